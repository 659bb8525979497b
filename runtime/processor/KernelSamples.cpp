#include "runtime/processor/KernelSamples.h"

#include "lib/Program/Parameters.h"

#include <algorithm>
#include <cstdint>

namespace nanobragg {

double samplesPerPixel(const nb_kernel_descriptor &kernel, const void *const *arguments) {
  double samples = 1;
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
    if (kernel.parameters[i].kind != NB_PARAMETER_INDEX)
      continue;
    const Parameter *known = findParameter(kernel.parameters[i].name);
    if (!known)
      continue;
    const double count = std::max(1.0, double(*static_cast<const std::int64_t *>(arguments[i])));
    for (int power = 0; power != known->samples; ++power)
      samples *= count;
  }
  return samples;
}

} // namespace nanobragg
