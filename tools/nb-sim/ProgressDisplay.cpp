#include "tools/nb-sim/ProgressDisplay.h"

#include <string>
#include <unistd.h>

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

} // namespace nanobragg
