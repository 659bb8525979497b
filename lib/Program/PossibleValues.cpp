#include "lib/Program/PossibleValues.h"

#include "lib/Program/Parameters.h"

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

} // namespace

void checkPossible(const std::string &name, const double *numbers, std::int64_t count) {
  const Parameter *parameter = findParameter(name);
  const Possible possible = parameter ? parameter->possible : Possible::Any;
  const auto refuse = [&](std::int64_t i, const std::string &why) {
    throw std::invalid_argument("parameter '" + name + "' " +
                                (count == 1 ? "" : "at index " + std::to_string(i) + " ") + why);
  };
  for (std::int64_t i = 0; i != count; ++i) {
    const double x = numbers[i];
    if (std::isnan(x))
      refuse(i, "is not a number");
    if (std::isinf(x) && !(possible == Possible::NotNegativeOrInfinite && x > 0))
      refuse(i, "is infinite");
    if (possible == Possible::Positive && !(x > 0))
      refuse(i, "is " + textOf(x) + "; it must be greater than 0");
    if ((possible == Possible::NotNegative || possible == Possible::NotNegativeOrInfinite) && x < 0)
      refuse(i, "is " + textOf(x) + "; it must not be negative");
    if (possible == Possible::CellAngle && !(x > 0 && x < std::numbers::pi))
      refuse(i, "is " + textOf(x) + " rad; an angle of a cell is between 0 and pi");
  }
  if (possible == Possible::Direction &&
      std::all_of(numbers, numbers + count, [](double x) { return x == 0; }))
    throw std::invalid_argument("parameter '" + name + "' must not be the zero vector");
}

void checkCellAngles(double alpha, double beta, double gamma) {
  const double half = (alpha + beta + gamma) / 2;
  constexpr double smallest = 1e-9; // where roundings decide, the image is no number
  if (!(std::min({half - alpha, half - beta, half - gamma, std::numbers::pi - half}) > smallest))
    throw std::invalid_argument(
        "no cell with these cell_alpha, cell_beta and cell_gamma has a volume; each angle must be "
        "less than the sum of the others, and their sum less than 2 pi");
}

} // namespace nanobragg
