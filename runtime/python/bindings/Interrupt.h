// Ctrl-C while a simulator runs.
#ifndef NANOBRAGG_PYTHON_INTERRUPT_H
#define NANOBRAGG_PYTHON_INTERRUPT_H

#include "nanobragg/Run.h"

#include <csignal>

namespace nanobragg::python {

/// While it lives, SIGINT asks the run to stop and then does what it did before. Python looks at
/// signals in its main thread alone, so in others nothing happens.
class InterruptStops {
public:
  explicit InterruptStops(CancellationToken &token);
  InterruptStops(const InterruptStops &) = delete;
  ~InterruptStops();

private:
  bool installed = false;
};

} // namespace nanobragg::python
#endif
