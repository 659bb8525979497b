// The reflections that an experiment's averages may light.
#ifndef NANOBRAGG_SPOTS_EXPECTEDREFLECTIONS_H
#define NANOBRAGG_SPOTS_EXPECTEDREFLECTIONS_H

#include "lib/Experiment/Experiment.h"
#include "lib/Spots/Prediction.h"
#include "nanobragg/Reflections.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nanobragg {

/// Where a reflection is expected, near enough for a program of reflections to find it.
struct ExpectedReflection {
  std::array<std::int32_t, 3> hkl{};
  std::int32_t panel = 0;
  double fast = 0, slow = 0; ///< pixels from the panel's outer corner
  double turn = 0;           ///< in the rotation step, from its middle, between -1/2 and 1/2
  /// The part of the step where its light is no other crossing's. With a continuous spectrum, the
  /// part of it, as shifts from the beam's wavelength in units of this.
  double begin = -0.5, end = 0.5;
  double wavelength = 0; ///< m, of a spectrum
  /// With variant.bySource.
  std::int64_t source = 0, layer = 0;
};

/// All whose partiality may be that much, on the detector and within its resolution limit, in the
/// order of their indices. A node that crosses the Ewald sphere twice in the step is two, and one
/// near the edge of a panel, from in- or outside, is one of that panel, too. `ofImage`: with 0 0 0,
/// the beam itself, and with nodes that do not quite reach the sphere in a rotation. `hasPixels`:
/// as in PredictionLimits. None is missing.
std::vector<std::optional<ExpectedReflection>>
expectedReflections(const Experiment &experiment, double partiality, bool ofImage,
                    decltype(PredictionLimits::hasPixels) hasPixels = {});

/// Whether they are about more than so many, soon told.
bool areMoreReflections(const Experiment &experiment, double partiality, bool ofImage, double most);

/// Those that are asked for, in their order, however small their partiality. None where a node does
/// not come onto the sphere, or far from the panels only.
std::vector<std::optional<ExpectedReflection>>
askedReflections(const Experiment &experiment, std::span<const AskedReflection> asked);

} // namespace nanobragg
#endif
