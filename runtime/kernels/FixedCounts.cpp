#include "runtime/kernels/FixedCounts.h"

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nanobragg {

static std::string shortest(double value) {
  char text[400]; // of the largest number
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

void checkFixed(const nb_kernel_descriptor &kernel, const void *const *arguments) {
  constexpr std::string_view mark = NB_KERNEL_FIXED;
  std::string_view rest = kernel.variant ? kernel.variant : "";
  for (std::size_t at; (at = rest.find(mark)) != rest.npos;) {
    rest.remove_prefix(at + mark.size());
    const std::string word(rest.substr(0, rest.find(' ')));
    const std::string name = word.substr(0, word.find('='));
    for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
      if (name != kernel.parameters[i].name)
        continue;
      const std::string value = kernel.parameters[i].kind == NB_PARAMETER_INDEX
                                    ? std::to_string(*static_cast<const std::int64_t *>(arguments[i]))
                                    : shortest(*static_cast<const double *>(arguments[i]));
      if (word != name + "=" + value)
        throw std::invalid_argument("the kernel was compiled for " + word + " and " + name + "=" +
                                    value + " is needed; compile one without that");
    }
  }
}

} // namespace nanobragg
