#include "lib/Program/PossibleValues.h"

#include "lib/Program/FlagOf.h"
#include "lib/Program/Parameters.h"
#include "lib/Quantities/LikelyUnits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>

namespace nanobragg {

namespace {

std::string textOf(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

std::string withUnit(double x, std::string_view unit) {
  return textOf(x) + (unit == "1" ? "" : " " + std::string(unit));
}

/// Numbers per length that no crystal is large enough for.
struct Reciprocal {
  std::string_view parameter;
  double lowest; ///< The largest number is at least this, 1/m.
};
constexpr Reciprocal reciprocals[] = {{"reciprocal_matrix", 1e5}, {"background_stol", 1e6}};

} // namespace

std::optional<std::string> checkUnits(const std::string &parameter, const std::string &name,
                                      std::span<const double> numbers, Caller caller) {
  for (const Reciprocal &reciprocal : reciprocals) {
    double largest = 0;
    for (const double x : numbers)
      largest = std::max(largest, std::fabs(x));
    if (parameter == reciprocal.parameter && largest > 0 && largest < reciprocal.lowest)
      throw std::invalid_argument(
          name + ": " + textOf(largest) + " 1/m, its largest number, is beyond any experiment; " +
          textOf(reciprocal.lowest) + " 1/m and more are allowed; numbers are in SI units: " +
          textOf(largest) + (caller == Caller::Python ? " / nb.angstrom" : " * 1e10 for 1/A"));
  }
  const PlaceInQuantity place = quantityOfParameter(parameter);
  std::optional<std::string> doubtful;
  if (!place.row)
    return doubtful;
  for (std::size_t i = 0; i != numbers.size(); ++i)
    if (const auto slip = slipOfUnits(*place.row, numbers[i], place.index + i, caller)) {
      const std::string sentence = name + ": " + slip->sentence;
      if (slip->certain)
        throw std::invalid_argument(sentence);
      if (!doubtful)
        doubtful = sentence;
    }
  return doubtful;
}

void checkPossible(const std::string &name, const double *numbers, std::int64_t count) {
  const Parameter *parameter = findParameter(name);
  const PlaceInQuantity place = quantityOfParameter(name);
  const Possible possible = parameter ? parameter->possible : Possible::Any;
  const auto refuse = [&](std::int64_t i, const std::string &why) {
    throw std::invalid_argument("parameter '" + name + "' " +
                                (count == 1 ? "" : "at index " + std::to_string(i) + " ") + why);
  };
  for (std::int64_t i = 0; i != count; ++i) {
    const double x = numbers[i];
    if (std::isnan(x))
      refuse(i, "is not a number (NaN); in a fit, look for a loss whose gradient is NaN, such as "
                "that of a root at 0");
    if (std::isinf(x) && !(x > 0 && place.row && place.row->range.infinite))
      refuse(i, "is infinite; it must be finite");
    if (possible == Possible::Positive && !(x > 0))
      refuse(i, "is " + withUnit(x, parameter->unit) + "; it must be greater than 0");
    if (possible == Possible::NotNegative && x < 0)
      refuse(i, "is " + textOf(x) + "; it must be at least 0");
    if (possible == Possible::CellAngle && !(x > 0 && x < std::numbers::pi))
      refuse(i, "is " + textOf(x) + " rad; an angle of a cell is between 0 and pi");
    if (!place.row)
      continue;
    const std::size_t at = place.index + std::size_t(i);
    Range range = place.row->range;
    range.low = place.row->unit->inSI(range.low, at);
    range.high = place.row->unit->inSI(range.high, at);
    if (!range.contains(x))
      refuse(i, "is " + withUnit(x, parameter->unit) + "; it must be " + range.text());
  }
  if (possible == Possible::Direction &&
      std::all_of(numbers, numbers + count, [](double x) { return x == 0; }))
    throw std::invalid_argument("parameter '" + name + "' must not be the zero vector");
}

void checkCellAngles(double alpha, double beta, double gamma) {
  const double half = (alpha + beta + gamma) / 2;
  constexpr double smallest = 1e-9; // where roundings decide, the image is not a number
  if (!(std::min({half - alpha, half - beta, half - gamma, std::numbers::pi - half}) > smallest))
    throw std::invalid_argument(
        "no cell with these cell_alpha, cell_beta and cell_gamma has a volume; each angle must be "
        "less than the sum of the others, and their sum less than 2 pi");
}

} // namespace nanobragg
