//===- FixedCounts.cpp ----------------------------------------------------===//
#include "FixedCounts.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nanobragg {

void checkFixed(const nb_kernel_descriptor &kernel, const void *const *arguments) {
  constexpr std::string_view mark = NB_KERNEL_FIXED;
  std::string_view rest = kernel.structure ? kernel.structure : "";
  for (std::size_t at; (at = rest.find(mark)) != rest.npos;) {
    rest.remove_prefix(at + mark.size());
    const std::string word(rest.substr(0, rest.find(' ')));
    const std::string name = word.substr(0, word.find('='));
    for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
      if (name != kernel.parameters[i].name || kernel.parameters[i].kind != NB_PARAMETER_INDEX)
        continue;
      const auto value = *static_cast<const std::int64_t *>(arguments[i]);
      if (word != name + "=" + std::to_string(value))
        throw std::invalid_argument("the kernel was compiled for " + word + " and " + name + "=" +
                                    std::to_string(value) + " is needed; compile one without that");
    }
  }
}

} // namespace nanobragg
