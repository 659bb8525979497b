#include "runtime/capi/PossibleValues.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string_view>

namespace nanobragg {
namespace {

// As nb-sim refuses them.
constexpr std::string_view positive[] = {
    "cell_a",     "cell_b",   "cell_c",        "wavelength", "source_wavelength",
    "pixel_size", "distance", "close_distance"};
constexpr std::string_view notNegative[] = {
    "ncells_a", "ncells_b", "ncells_c", "fudge", "sensor_thickness", "dmin", "attenuation_depth"};
constexpr std::string_view angles[] = {"cell_alpha", "cell_beta", "cell_gamma"};
constexpr std::string_view directions[] = {"beam_direction", "fast_axis", "slow_axis",
                                           "normal_axis"};

bool isOneOf(const std::string &name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

void checkPossible(const std::string &name, nb_parameter_kind kind, const double *numbers,
                   std::int64_t count) {
  const auto refuse = [&](std::int64_t i, const std::string &why) {
    throw std::invalid_argument("parameter '" + name + "' " + why +
                                (count == 1 ? "" : " at index " + std::to_string(i)));
  };
  const bool mayBeInfinite = name == "attenuation_depth";
  const bool above = isOneOf(name, positive), least = isOneOf(name, notNegative);
  const bool angle = isOneOf(name, angles);
  for (std::int64_t i = 0; i != count; ++i) {
    const double x = numbers[i];
    if (std::isnan(x))
      refuse(i, "is not a number");
    if (std::isinf(x) && !(mayBeInfinite && x > 0))
      refuse(i, "is infinite");
    if (above && !(x > 0))
      refuse(i, "must be greater than 0, and is not,");
    if (least && x < 0)
      refuse(i, "must not be negative, and is,");
    if (angle && !(x > 0 && x < std::numbers::pi))
      refuse(i, "is " + std::to_string(x) + " rad, which is no angle of a cell,");
  }
  if (kind == NB_PARAMETER_VEC3 && isOneOf(name, directions) &&
      std::all_of(numbers, numbers + count, [](double x) { return x == 0; }))
    throw std::invalid_argument("parameter '" + name + "' must not be the zero vector");
}

void checkCellAngles(double alpha, double beta, double gamma) {
  const double a = std::cos(alpha), b = std::cos(beta), c = std::cos(gamma);
  if (!(1 + 2 * a * b * c - a * a - b * b - c * c > 0))
    throw std::invalid_argument(
        "no cell with these cell_alpha, cell_beta and cell_gamma has a volume; "
        "each angle must be less than the sum of the others");
}

} // namespace nanobragg
