#include "tools/nb-sim/SeriesTeam.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>

namespace nanobragg {

void SeriesTeam::prepareKernel(const std::function<void()> &prepare) {
  if (!ranks)
    return;
  if (ranks->rankHere() != 0)
    ranks->meetHere();
  prepare();
  if (ranks->rankHere() == 0)
    ranks->meetHere();
}

void SeriesTeam::made(std::int64_t image) {
  const std::lock_guard lock(mutex);
  madeHere.push_back(image);
}

void SeriesTeam::tell(SeriesProgress &progress) {
  const std::int64_t own = progress.made();
  madeByAll = ranks ? ranks->finished(own - told) : own;
  told = own;
  if (ranks && ranks->rank() == 0)
    progress.setElsewhere(madeByAll - own);
}

void SeriesTeam::meet(SeriesProgress &progress) {
  tell(progress);
  while (ranks && !ranks->arrived(0.2))
    tell(progress);
  tell(progress);
}

std::string SeriesTeam::report(double busySeconds, double kernelSeconds) const {
  std::string text = std::to_string(busySeconds) + " " + std::to_string(kernelSeconds);
  for (const std::int64_t image : madeHere)
    text += " " + std::to_string(image);
  return text;
}

void SeriesTeam::gatherReports(double busySeconds, double kernelSeconds) {
  leastBusy = mostBusy = busySeconds;
  kernel = kernelSeconds;
  if (!ranks)
    return;
  const std::vector<std::string> reports = ranks->gather(report(busySeconds, kernelSeconds));
  if (!reports.empty())
    kernel = 0;
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    std::istringstream words(reports[rank]);
    double busy = 0, ofRank = 0;
    words >> busy >> ofRank;
    leastBusy = std::min(leastBusy, busy);
    mostBusy = std::max(mostBusy, busy);
    kernel += ofRank;
    for (std::int64_t image = 0; words >> image;)
      byRanks[image] = int(rank);
  }
}

void SeriesTeam::printFrames(const SeriesProgress &progress, double seconds) const {
  std::printf("%lld frames in %.2f s", (long long)madeByAll, seconds);
  if (ranks)
    std::printf(" by %d ranks, which had work for %.2f to %.2f s", ranks->size(), leastBusy,
                mostBusy);
  if (progress.skipped() > 0)
    std::printf(", %lld were there", (long long)progress.skipped());
  if (madeByAll > 0)
    std::printf("; the kernel ran %.2f ms of the %.2f ms a frame took",
                1e3 * kernel / double(madeByAll), 1e3 * seconds / double(madeByAll));
  std::printf("\n");
}

} // namespace nanobragg
