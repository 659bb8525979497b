// The object behind nb_simulator.
#ifndef NANOBRAGG_CAPI_HANDLE_H
#define NANOBRAGG_CAPI_HANDLE_H

#include "lib/Parallel/ProcessMutex.h"
#include "nanobragg/nanobragg.h"
#include "runtime/capi/ParameterValues.h"
#include "runtime/simulator/Program.h"

#include <memory>
#include <mutex>
#include <string>

/// A program with the numbers that it will be run with. It is not a nanobragg::Simulator, which has
/// an experiment: here tables may change their sizes, and a kernel may come without any experiment.
/// runtime/simulator/Placement.h decides for both which engine runs the program.
struct nb_simulator {
  explicit nb_simulator(nanobragg::Program placed, int threads = 0)
      : program(std::move(placed)), threads(threads), values(program.descriptor()),
        outputs(program.descriptor()) {}

  const nb_kernel_descriptor &kernel() const { return program.descriptor(); }

  nanobragg::Program program;
  const int threads; ///< for runs that do not say how many
  mutable nanobragg::ProcessMutex mutex;
  nanobragg::ParameterValues values;
  nanobragg::OutputMemory
      outputs; ///< the last run's outputs, but for the image that went to the caller
  bool complete = false;
  std::string flagWarnings;         ///< lines
  mutable std::string warningsText; ///< the text of nb_simulator_warnings

  // nb_cancel does not wait for a run.
  std::mutex cancelMutex;
  std::shared_ptr<nanobragg::CancellationToken> cancel =
      std::make_shared<nanobragg::CancellationToken>();
};

#endif
