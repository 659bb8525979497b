#include "lib/Program/FixedCount.h"

#include <charconv>
#include <stdexcept>

namespace nanobragg {

FixedCount FixedCount::fromString(std::string_view text) {
  const std::size_t equals = text.find('=');
  FixedCount count{std::string(text.substr(0, equals)), 0};
  const std::string_view value = equals == text.npos ? "" : text.substr(equals + 1);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count.value);
  if (error != std::errc() || end != value.data() + value.size() || count.value < 1)
    throw std::invalid_argument("'" + std::string(text) + "' does not give a count a value");
  return count;
}

} // namespace nanobragg
