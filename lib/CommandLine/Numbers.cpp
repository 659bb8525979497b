#include "lib/CommandLine/Numbers.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace nanobragg {

std::optional<double> parseNumber(std::string_view word) {
  // from_chars takes no plus sign.
  if (word.starts_with('+') && !word.starts_with("+-"))
    word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

double leadingNumber(const std::string &word) { return std::strtod(word.c_str(), nullptr); }

} // namespace nanobragg
