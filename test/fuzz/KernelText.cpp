// The description in a kernel file, read from ELF of unknown origin.
#include "test/fuzz/FuzzTarget.h"

#include "runtime/kernels/KernelText.h"

#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(kernel_text) {
  try {
    fuzz::require(!readKernelText(input).versions.empty(), "a kernel file has a version");
  } catch (const std::runtime_error &refusal) {
    fuzz::requireSentence(refusal);
  }
}
