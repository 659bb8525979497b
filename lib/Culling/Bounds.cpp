#include "lib/Culling/Bounds.h"

#include <cmath>
#include <numbers>

namespace nanobragg {

const double bounds::ofMostCells = 60 * std::numbers::ln2;

double bounds::ofExponent(const CulledProgram &program, bool single) {
  if (!program.isExact())
    return std::log(1 / program.setting.tolerance()) / 2;
  // From 41 on kernels take an exponential in f32 for 0; a part more for the rounding of x.
  if (single)
    return 42;
  // The square of cells * F * exp(-x) is below half of the smallest number: cells, a product of
  // three numbers of cells, below 2^60, and F below 2^32 electrons. Derivatives get 2^64 more for
  // their other factors, which stand between the two exponentials.
  //
  // A pixel of f32 is 0 below 2^-150. It is the sum times less than 2^64 (a fluence below 2^160
  // photons per square metre), so that of one that is not 0 the sum's last digit is 2^-267 or more:
  // 2^40 terms below 2^-400 do not change it, and their amplitudes are below 2^-200.
  const bool toSingle = program.toSingle && !program.derives;
  const double smallest = toSingle ? 200 : 538;
  return (smallest + 32 + (program.derives ? 64 : 0)) * std::numbers::ln2 + ofMostCells;
}

double bounds::ofBall(double tolerance) {
  // That square is at most the one of 3 (1 + x) / x^3.
  const double amplitude = std::sqrt(tolerance);
  double low = 1, high = 1;
  const auto envelope = [](double x) { return 3 * (1 + x) / (x * x * x); };
  while (envelope(high) > amplitude)
    high *= 2;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (envelope(middle) > amplitude ? low : high) = middle;
  }
  return high * high;
}

std::optional<double> bounds::ofProfile(SpotProfile profile, const CulledProgram &program,
                                        bool single) {
  switch (profile) {
  case SpotProfile::Gaussian:
    return ofExponent(program, single);
  case SpotProfile::Step:
    return constants::tophatEdge * edgeRoom;
  case SpotProfile::Ball: // it is nowhere zero
    return program.isExact() ? std::nullopt : std::optional(ofBall(program.setting.tolerance()));
  case SpotProfile::Grating:
    return std::nullopt;
  }
  return std::nullopt;
}

double bounds::ofGrating(double tolerance) { return 1 / std::sqrt(tolerance); }

} // namespace nanobragg
