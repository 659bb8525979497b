// The handling of Ctrl-C.
#ifndef NANOBRAGG_FILES_INTERRUPTGUARD_H
#define NANOBRAGG_FILES_INTERRUPTGUARD_H

namespace nanobragg::io {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP ends the process at once, whatever it is
/// doing: the temporaries of open outputs are removed, one line is written to standard error, and
/// the exit status is 128 + signal, as shells expect. Outputs that were there before stay as they
/// were. One at a time per process; throws std::logic_error otherwise. A SIGHUP that was ignored
/// (nohup) stays ignored.
///
/// A file that has reached the size that `ulimit -f` allows is an error of the write meanwhile,
/// which can be told, and not the signal SIGXFSZ, which ends the process.
class InterruptGuard {
public:
  /// `tool` begins the line; it must outlive the guard.
  explicit InterruptGuard(const char *tool);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;
};

/// While it lives, those signals are passed over: outputs that belong together are put into place
/// together, which takes no time. One at a time.
class UninterruptedSection {
public:
  UninterruptedSection();
  ~UninterruptedSection();
  UninterruptedSection(const UninterruptedSection &) = delete;
  UninterruptedSection &operator=(const UninterruptedSection &) = delete;
};

} // namespace nanobragg::io
#endif
