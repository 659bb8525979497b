// Which reflections an image has, and where.
#ifndef NANOBRAGG_SPOTS_PREDICTION_H
#define NANOBRAGG_SPOTS_PREDICTION_H

#include "lib/Formats/DialsExperiment.h"
#include "lib/Spots/Spot.h"

#include <functional>
#include <optional>
#include <vector>

namespace nanobragg {

/// Limits of the spots that are predicted, beside the experiment.
struct PredictionLimits {
  SpotSize size;
  double dmin = 0;   ///< A; 0: no limit but the detector
  bool boxes = true; ///< spots have boxes, and those of stills the rotation that they need
  /// Pixels beyond the edges of a panel where a spot is one of it, too.
  double beyond = 0;
  bool direct = false; ///< 0 0 0, the beam itself, is a spot
  /// Nodes that come near to the sphere in a rotation without crossing it are spots.
  bool grazing = false;
  /// A, of a spectrum on a still: the least and the greatest wavelength. Each node is on the sphere
  /// of its own, and the wavelength of the beam is the least one.
  std::optional<std::array<double, 2>> spectrum{};
  /// Only these nodes, one after another, however far they are from the sphere.
  std::optional<std::vector<std::array<std::int32_t, 3>>> nodes{};
  /// Whether the image has pixels between these places of a panel, pixels from its corner, along
  /// fast and slow; empty: everywhere. Spots that cannot reach any are left out.
  std::function<bool(std::size_t panel, const double (&fast)[2], const double (&slow)[2])>
      hasPixels{};
  /// Whether a reflection has a structure factor other than 0; empty: all have.
  std::function<bool(const std::array<std::int32_t, 3> &)> shines;
};

/// The spots of one image. Its crystal is static, its scan, if it has one, is of this image alone;
/// fixed and setting rotations are part of the crystal, as in what dialsExperimentOf makes before
/// texts of a file are kept.
///
/// A rotation: reflections whose node crosses the Ewald sphere within the image's range, or so near
/// to it that the spot's edge does. s0 = beam / wavelength, q = R(phi) h A, |s0 + q| = |s0|.
/// A still: reflections whose node reaches the sphere; the spot is where the node, turned about the
/// axis at a right angle to beam and node, meets it, as DIALS predicts stills.
/// Throws std::invalid_argument where memory would run out.
std::vector<Spot> predictSpots(const io::DialsExperiment &image, const PredictionLimits &limits);

/// About how many they are, of all nodes, from some thousand lines of the lattice.
double estimateSpots(const io::DialsExperiment &image, const PredictionLimits &limits);

/// Whether they are more by that estimate, which is made only if there may be as many.
bool areMoreSpots(const io::DialsExperiment &image, const PredictionLimits &limits, double most);

} // namespace nanobragg
#endif
