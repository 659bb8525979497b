// Kernels written by hand, so that the runtime is tested without a compiler.
#ifndef NANOBRAGG_TEST_TESTKERNELS_H
#define NANOBRAGG_TEST_TESTKERNELS_H

#include "runtime/processor/KernelRunner.h"

namespace nanobragg::test {

/// pixel = wavelength * (1 + panel) + sin(slow * fast), zero outside the region of interest; the
/// factor goes through the workspace, whose alignment and contents every tile checks.
const nb_kernel_descriptor &waveKernel();

/// As waveKernel, each row taking at least a millisecond.
const nb_kernel_descriptor &slowKernel();

/// The handle of a descriptor that is not to be freed.
inline KernelHandle handleOf(const nb_kernel_descriptor &kernel) {
  return KernelHandle(KernelHandle(), &kernel);
}

/// Everything that waveKernel needs.
Experiment waveExperiment(std::int64_t slow, std::int64_t fast);

} // namespace nanobragg::test
#endif
