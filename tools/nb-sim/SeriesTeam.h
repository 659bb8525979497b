// Ranks that make a series, and their words to each other.
#ifndef NANOBRAGG_NBSIM_SERIESTEAM_H
#define NANOBRAGG_NBSIM_SERIESTEAM_H

#include "lib/MPI/Ranks.h"
#include "tools/nb-sim/Progress.h"
#include "tools/nb-sim/SeriesJournal.h"

#include <functional>
#include <mutex>
#include <vector>

namespace nanobragg {

/// A process without ranks is a team of one.
class SeriesTeam {
public:
  explicit SeriesTeam(Ranks *ranks) : ranks(ranks) {}

  /// One rank of a machine compiles, and the others find the kernel in the cache. Without ranks the
  /// first image does so.
  void prepareKernel(const std::function<void()> &prepare);
  /// Notes an image, counted from 1, that this process has made. Any thread.
  void made(std::int64_t image);
  /// Rank 0 shows what all have made.
  void tell(SeriesProgress &progress);
  /// Waits for the others, telling meanwhile.
  void meet(SeriesProgress &progress);
  /// Rank 0 learns what each has made, how long each had work and its kernel ran.
  void gatherReports(double busySeconds, double kernelSeconds);

  bool any() const { return ranks; }
  /// Each rank's text, on rank 0.
  std::vector<std::string> gather(const std::string &text) {
    return ranks ? ranks->gather(text) : std::vector<std::string>();
  }
  /// All images that ranks have made, on rank 0.
  const FinishedImages &madeByRanks() const { return byRanks; }
  double kernelSeconds() const { return kernel; }
  /// "12 frames in 3.40 s by 4 ranks, ..."
  void printFrames(const SeriesProgress &progress, double seconds) const;

private:
  std::string report(double busySeconds, double kernelSeconds) const;

  Ranks *ranks; ///< null: none
  std::int64_t told = 0, madeByAll = 0;
  double leastBusy = 0, mostBusy = 0, kernel = 0;
  std::mutex mutex;
  std::vector<std::int64_t> madeHere;
  FinishedImages byRanks;
};

} // namespace nanobragg
#endif
