#include "runtime/processor/FixedCounts.h"

#include "lib/Program/KernelSpecification.h"

#include <cstdint>
#include <sstream>
#include <stdexcept>

namespace nanobragg {

void checkFixed(const nb_kernel_descriptor &kernel, const void *const *arguments) {
  if (!kernel.variant)
    return;
  for (const FixedCount &count : KernelSpecification::fromString(kernel.variant).fixed) {
    for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
      if (count.name != kernel.parameters[i].name)
        continue;
      const double value = kernel.parameters[i].kind == NB_PARAMETER_INDEX
                               ? double(*static_cast<const std::int64_t *>(arguments[i]))
                               : *static_cast<const double *>(arguments[i]);
      if (value == double(count.value))
        continue;
      std::ostringstream needed;
      needed << value;
      throw std::invalid_argument("the kernel was compiled for " + count.toString() + " and " +
                                  count.name + "=" + needed.str() +
                                  " is needed; compile one without that");
    }
  }
}

} // namespace nanobragg
