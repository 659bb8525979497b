#include "lib/Experiment/FlagUnits.h"

#include "lib/Experiment/Range.h"

#include <cmath>
#include <optional>

namespace nanobragg {

double Unit::inSI(double value, std::size_t index) const {
  const auto convert = index >= 3 && otherToSI ? otherToSI : toSI;
  return convert ? convert(value) : value;
}

double Unit::fromSI(double value, std::size_t index) const {
  const double near = value / inSI(1, index);
  if (!toSI || near == 0 || !std::isfinite(near))
    return near;
  std::optional<double> best;
  for (double other = std::nextafter(std::nextafter(near, 0.0), 0.0), i = 0; i != 5;
       ++i, other = std::nextafter(other, HUGE_VAL * near))
    if (inSI(other, index) == value &&
        (!best || numberText(other).size() < numberText(*best).size()))
      best = other;
  return best.value_or(near);
}

} // namespace nanobragg
