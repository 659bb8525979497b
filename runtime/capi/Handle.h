// What stands behind nb_simulator.
#ifndef NANOBRAGG_CAPI_HANDLE_H
#define NANOBRAGG_CAPI_HANDLE_H

#include "nanobragg/nanobragg.h"
#include "runtime/capi/ParameterValues.h"
#include "runtime/processor/KernelRunner.h"

#include <memory>
#include <mutex>

/// A kernel with the numbers that it will be run with.
struct nb_simulator {
  explicit nb_simulator(nanobragg::KernelHandle handle,
                        std::shared_ptr<nanobragg::cuda::Device> device = nullptr)
      : kernel(std::move(handle)), values(*kernel), outputs(*kernel),
        executor(kernel, std::move(device)) {}

  const nanobragg::KernelHandle kernel;
  mutable std::mutex mutex;
  nanobragg::ParameterValues values;
  nanobragg::OutputMemory outputs; ///< of the last run, but for the image that went to the caller
  bool complete = false;
  nanobragg::KernelExecutor executor;

  // nb_cancel does not wait for a run.
  std::mutex cancelMutex;
  std::shared_ptr<nanobragg::CancellationToken> cancel =
      std::make_shared<nanobragg::CancellationToken>();
};

#endif
