// How wide a point spread is.
#ifndef NANOBRAGG_EXPERIMENT_POINTSPREADWIDTH_H
#define NANOBRAGG_EXPERIMENT_POINTSPREADWIDTH_H

#include "lib/Experiment/ProgramVariant.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nanobragg {

/// g of a fiber's point spread over its full width at half maximum: 1 / (2 sqrt(2^(2/3) - 1)), with
/// the digits of noisify.
constexpr double fiberScale = 0.652383013252053;

/// Pixels around a point within which all but 1e-7 of a Gaussian's light falls, or 98 % of a
/// fiber's: exp(-ln 16 (r/w)^2) and g / sqrt(g^2 + r^2) lie outside of r.
inline std::int64_t defaultPointSpreadRadius(PointSpread kind, double widthInPixels) {
  const double radius =
      kind == PointSpread::Gauss ? 2.45 * widthInPixels : 50 * fiberScale * widthInPixels;
  return 1 + std::int64_t(std::ceil(std::min(radius, 1e6)));
}

} // namespace nanobragg
#endif
