// Beyond which distance from a reflection a sample counts for nothing.
#ifndef NANOBRAGG_CULLING_BOUNDS_H
#define NANOBRAGG_CULLING_BOUNDS_H

#include "lib/Experiment/CrystalShape.h"
#include "nanobragg/CullSetting.h"

#include <optional>

namespace nanobragg {

/// The program's numbers and results that a bound depends on.
struct CulledProgram {
  CullSetting setting{}; ///< exact or a tolerance
  bool derives = false;  ///< more than an image: derivatives, whose terms carry further factors
  bool toSingle = false; ///< the image is of f32

  bool isExact() const { return setting.isExact(); }
};

namespace bounds {

/// log(2^60), in the bound of exponents: of the numbers of cells, where these are not known.
extern const double ofMostCells;
/// At least log(cells): log(y^64) <= 64 (y - 1). `root` is cells to the power of 1/64.
constexpr double logarithmOfCells(double root) { return 64 * (root - 1); }

/// The exponent x beyond which exp(-x) counts for nothing; `single`: it is computed in f32.
double ofExponent(const CulledProgram &program, bool single);

/// The squared distance x^2 beyond which the square of 3 (sin x - x cos x) / x^3 is below the
/// tolerance.
double ofBall(double tolerance);

/// The product over the axes of max(1, cells |sin(pi h)|) above which a grating is below the
/// tolerance.
double ofGrating(double tolerance);

/// The squared distance, times the profile's factor, beyond which a sample counts for nothing;
/// none where there is no such distance.
std::optional<double> ofProfile(SpotProfile profile, const CulledProgram &program, bool single);

/// Room for the rounding of what is compared with an edge.
inline constexpr double edgeRoom = 1 + 1e-6;

} // namespace bounds
} // namespace nanobragg
#endif
