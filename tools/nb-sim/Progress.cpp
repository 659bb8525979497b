#include "tools/nb-sim/Progress.h"

#include <string>
#include <unistd.h>
#include <utility>

namespace nanobragg {

ProgressDisplay::ProgressDisplay(std::FILE *out) : out(out), terminal(isatty(fileno(out))) {}

void ProgressDisplay::show(double fraction) {
  if (terminal)
    drawBar(fraction);
  else
    printLine(fraction);
}

void ProgressDisplay::abandon() {
  if (open)
    std::fputc('\n', out);
  open = false;
}

void ProgressDisplay::drawBar(double fraction) {
  constexpr int width = 40;
  const int filled = int(fraction * width);
  const double seconds = sinceStart.seconds();
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  std::fprintf(out, "\r[%s] %3d%%", bar.c_str(), int(fraction * 100));
  if (fraction < 1)
    std::fprintf(out, "  %.0f s left  ", seconds * (1 - fraction) / fraction);
  else
    std::fprintf(out, "  %.1f s        \n", seconds);
  std::fflush(out);
  open = fraction < 1;
}

void ProgressDisplay::printLine(double fraction) {
  const int percent = int(fraction * 100);
  const bool edge = percent < 10 || percent > 90;
  const int step = edge ? percent : percent / 5 * 5;
  if (step <= lastPercent)
    return;
  lastPercent = step;
  std::fprintf(out, "%d%% done\n", step);
  std::fflush(out);
}

SeriesProgress::SeriesProgress(std::FILE *out, std::int64_t frames, bool shown)
    : out(out), frames(frames), shown(shown), terminal(isatty(fileno(out))) {}

void SeriesProgress::finishOne() {
  const std::lock_guard lock(mutex);
  ++done;
  show();
}

void SeriesProgress::skip() {
  const std::lock_guard lock(mutex);
  ++left;
}

void SeriesProgress::setElsewhere(std::int64_t made) {
  const std::lock_guard lock(mutex);
  if (std::exchange(elsewhere, made) != made)
    show();
}

void SeriesProgress::show() {
  const double seconds = sinceStart.seconds();
  const std::int64_t all = done + left + elsewhere, tenth = 10 * all / frames;
  const bool last = all == frames;
  constexpr double often = 0.1;
  if (!shown || (terminal ? !last && seconds - lastShown < often : tenth == lastTenth))
    return;
  lastShown = seconds;
  lastTenth = tenth;
  const double rate = seconds > 0 ? double(done + elsewhere) / seconds : 0;
  if (terminal) {
    constexpr std::int64_t width = 30;
    const auto filled = std::size_t(width * all / frames);
    std::fprintf(out, "\r[%s%s] ", std::string(filled, '#').c_str(),
                 std::string(std::size_t(width) - filled, '.').c_str());
  }
  std::fprintf(out, "%lld of %lld frames, %.3g frames/s, %.0f s left%s", (long long)all,
               (long long)frames, rate, rate > 0 ? double(frames - all) / rate : 0,
               terminal ? "   " : "\n");
  std::fflush(out);
}

void SeriesProgress::end() {
  if (shown && terminal && lastShown >= 0)
    std::fputc('\n', out);
}

} // namespace nanobragg
