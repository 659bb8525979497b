// How far a run has come.
#ifndef NANOBRAGG_NBSIM_PROGRESSDISPLAY_H
#define NANOBRAGG_NBSIM_PROGRESSDISPLAY_H

#include "runtime/processor/Stopwatch.h"

#include <cstdio>

namespace nanobragg {

/// On a terminal a bar that is redrawn in place; elsewhere the C program's "<p>% done" lines, in
/// steps of 5, and of 1 in the first and last tenth.
class ProgressDisplay {
public:
  explicit ProgressDisplay(std::FILE *out);
  /// `fraction` never decreases; 1 ends the display.
  void show(double fraction);
  /// Leaves the cursor on a fresh line when the run ends before the bar does.
  void abandon();

private:
  void drawBar(double fraction);
  void printLine(double fraction);

  std::FILE *out;
  bool terminal;
  bool open = false; ///< a bar stands on the current line
  int lastPercent = -1;
  Stopwatch sinceStart;
};

} // namespace nanobragg
#endif
