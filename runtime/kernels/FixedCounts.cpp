#include "runtime/kernels/FixedCounts.h"

#include "lib/Experiment/KernelSpecification.h"

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace nanobragg {

static std::string shortest(double value) {
  char text[400]; // of the largest number
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

void checkFixed(const nb_kernel_descriptor &kernel, const void *const *arguments) {
  if (!kernel.variant)
    return;
  for (const std::string &word : KernelSpecification::fromString(kernel.variant).fixed) {
    const std::string name = word.substr(0, word.find('='));
    for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
      if (name != kernel.parameters[i].name)
        continue;
      const std::string value =
          kernel.parameters[i].kind == NB_PARAMETER_INDEX
              ? std::to_string(*static_cast<const std::int64_t *>(arguments[i]))
              : shortest(*static_cast<const double *>(arguments[i]));
      if (word != name + "=" + value)
        throw std::invalid_argument("the kernel was compiled for " + word + " and " + name + "=" +
                                    value + " is needed; compile one without that");
    }
  }
}

} // namespace nanobragg
