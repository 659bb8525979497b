// How far a run or a series has come.
#ifndef NANOBRAGG_NBSIM_PROGRESS_H
#define NANOBRAGG_NBSIM_PROGRESS_H

#include "runtime/processor/Stopwatch.h"

#include <cstdint>
#include <cstdio>
#include <mutex>

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

/// Frames, frames per second and the time left: on a terminal a bar that is redrawn in place,
/// elsewhere a line for each tenth. Any thread may report.
class SeriesProgress {
public:
  SeriesProgress(std::FILE *out, std::int64_t frames, bool shown);
  void finishOne();
  void skip();
  /// Sets the number of frames that other processes have made of the same series.
  void setElsewhere(std::int64_t frames);
  void end();
  std::int64_t made() const {
    const std::lock_guard lock(mutex);
    return done;
  }
  std::int64_t skipped() const { return left; }

private:
  void show();

  std::FILE *out;
  std::int64_t frames, done = 0, left = 0, elsewhere = 0, lastTenth = 0;
  bool shown, terminal;
  double lastShown = -1;
  Stopwatch sinceStart;
  mutable std::mutex mutex;
};

} // namespace nanobragg
#endif
