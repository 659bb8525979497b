#include "nanobragg/CullSetting.h"

#include <charconv>
#include <stdexcept>

namespace nanobragg {

CullSetting CullSetting::below(double tolerance) {
  if (!(tolerance > 0 && tolerance < 1))
    throw std::invalid_argument("a tolerance of culling is between 0 and 1, and " +
                                std::to_string(tolerance) + " is not");
  return CullSetting(tolerance);
}

std::optional<CullSetting> CullSetting::fromString(std::string_view text) {
  if (text == "off")
    return off();
  if (text == "exact")
    return exact();
  double tolerance = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tolerance);
  if (error != std::errc() || end != text.data() + text.size() || !(tolerance > 0 && tolerance < 1))
    return std::nullopt;
  return below(tolerance);
}

std::string CullSetting::toString() const {
  if (isOff())
    return "off";
  if (isExact())
    return "exact";
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, *bound).ptr);
  if (const std::size_t zero = text.find("e-0"); zero != text.npos)
    text.erase(zero + 2, 1); // "1e-9", as one writes it
  return text;
}

} // namespace nanobragg
