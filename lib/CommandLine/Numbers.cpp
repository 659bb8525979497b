#include "lib/CommandLine/Numbers.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace nanobragg {
namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
}

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

std::string numberText(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

bool Range::contains(double value) const {
  return (lowIncluded ? value >= low : value > low) &&
         (highIncluded ? value <= high : value < high);
}

std::string Range::text() const {
  const bool below = std::isfinite(low), above = std::isfinite(high);
  if (below && above && lowIncluded && highIncluded)
    return "from " + numberText(low) + " to " + numberText(high);
  std::string text;
  if (below)
    text = (lowIncluded ? "at least " : "greater than ") + numberText(low);
  if (above)
    text += (below ? " and " : "") + std::string(highIncluded ? "at most " : "less than ") +
            numberText(high);
  return text;
}

Range Range::any() { return {-infinite, infinite}; }
Range Range::positive() { return {0, infinite, false}; }
Range Range::notNegative() { return {0, infinite}; }
Range Range::between(double low, double high) { return {low, high}; }

} // namespace nanobragg
