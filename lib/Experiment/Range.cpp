#include "lib/Experiment/Range.h"

#include <charconv>
#include <cmath>

namespace nanobragg {

std::string numberText(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

bool Range::contains(double value) const {
  if (!std::isfinite(value))
    return infinite && value > 0;
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
  return text.empty() ? "a finite number" : text;
}

} // namespace nanobragg
