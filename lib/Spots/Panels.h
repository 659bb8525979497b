// Where rays meet panels.
#ifndef NANOBRAGG_SPOTS_PANELS_H
#define NANOBRAGG_SPOTS_PANELS_H

#include "lib/Formats/DialsExperiment.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace nanobragg {

struct PanelPoint {
  std::size_t panel;
  std::array<double, 2> mm; ///< along fast and slow, on the panel's plane
};

/// Directions from the sample to the corners of a panel that is so many pixels larger on each side.
/// Up to a right angle from some direction, one of them is farthest from it of all pixels.
std::array<Vec3, 4> cornersOf(const io::DialsPanel &panel, double beyond);

/// Finds where rays from the sample meet panels.
class PanelFinder {
public:
  /// `beyond`: so many pixels beyond the edges of panels are looked at, too. The panels have to
  /// stay where they are.
  explicit PanelFinder(std::span<const io::DialsPanel> panels, double beyond = 0);
  /// The first panel that a ray meets within its pixels. `beside` receives where it meets the
  /// planes of panels beyond their edges.
  std::optional<PanelPoint> meet(const Vec3 &ray, std::vector<PanelPoint> *beside = nullptr) const;

private:
  void meetPanel(std::size_t panel, const Vec3 &ray, std::optional<PanelPoint> &first,
                 double &nearest, std::vector<PanelPoint> *beside) const;

  std::span<const io::DialsPanel> panels;
  double beyond;
  /// Cones about the panels' middles that their corners are in: x, y and z of the axes, and the
  /// cosines of the angles between them and the sides.
  std::array<std::vector<double>, 3> axes;
  std::vector<double> cosines;
  std::vector<Vec3> normals; ///< fast x slow of each panel
};

/// Where the line of a ray meets a panel's plane; none behind the sample.
std::optional<std::array<double, 2>> meetPlane(const io::DialsPanel &panel, const Vec3 &ray);

/// Pixels from mm. In a sensor with parallax, the mean place of detection of the ray, as dxtbx's
/// ParallaxCorrectedPxMmStrategy has it: its mean depth of absorption behind the plane, where
/// photons that pass the sensor count with depth 0.
std::array<double, 2> toPixel(const io::DialsPanel &panel, const std::array<double, 2> &mm);

} // namespace nanobragg
#endif
