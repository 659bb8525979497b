#include "lib/Experiment/RandomOrientation.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>
#include <numbers>

namespace nanobragg {

using std::numbers::pi;

AxisAngle drawMosaicRotation(double spread, Ran1 &random, std::int64_t &seed) {
  double r1 = 2.0 * random.uniform(seed) - 1.0;
  double r2 = 2.0 * random.uniform(seed) - 1.0;
  double r3 = 2.0 * random.uniform(seed) - 1.0;
  double xy = std::sqrt(1.0 - r2 * r2);
  float angle = float(spread) * std::pow(float(1.0 - r3 * r3), float(1.0 / 3.0));
  return {{xy * std::sin(pi * r1), xy * std::cos(pi * r1), r2}, angle};
}

Vec3 drawOrientation(Rule rule, Ran1 &random, std::int64_t &seed) {
  if (rule == Rule::C)
    return anglesXYZ(rotationMatrix(drawMosaicRotation(90.0, random, seed)));
  const double u = random.uniform(seed), v = random.uniform(seed), w = random.uniform(seed);
  return uniformOrientation(u, v, w);
}

Vec3 uniformOrientation(double u, double vTurns, double wTurns) {
  const double v = 2 * pi * vTurns, w = 2 * pi * wTurns;
  Vec3 q{std::sqrt(1 - u) * std::sin(v), std::sqrt(1 - u) * std::cos(v),
         std::sqrt(u) * std::sin(w)};
  double real = std::sqrt(u) * std::cos(w);
  return anglesXYZ(rotationMatrix({unit(q), 2 * std::atan2(length(q), real)}));
}

Mat3 rotationMatrix(const AxisAngle &rotation) {
  Mat3 matrix{};
  for (int column = 0; column < 3; ++column) {
    Vec3 e{};
    e[column] = 1;
    Vec3 image = rotatedAbout(rotation.axis, rotation.angle, e);
    for (int row = 0; row < 3; ++row)
      matrix[3 * row + column] = image[row];
  }
  return matrix;
}

Mat3 rotationXYZ(const Vec3 &angles) {
  Mat3 matrix{};
  for (int column = 0; column < 3; ++column) {
    Vec3 e{};
    e[column] = 1;
    const Vec3 image = rotatedXYZ(angles, e);
    for (int row = 0; row < 3; ++row)
      matrix[3 * row + column] = image[row];
  }
  return matrix;
}

Vec3 anglesXYZ(const Mat3 &u) {
  // At the pole only the sum or difference of the angles about X and Z is defined.
  if (u[6] * u[6] >= 1.0)
    return {0, u[6] < 0 ? pi / 2 : -pi / 2, std::atan2(-u[1], u[4])};
  return {std::atan2(u[7], u[8]), std::atan2(-u[6], std::hypot(u[7], u[8])),
          std::atan2(u[3], u[0])};
}

} // namespace nanobragg
