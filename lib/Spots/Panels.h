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

/// The first panel that a ray from the sample meets within its pixels. `beside` receives where it
/// meets the planes of panels outside of their pixels, up to so many pixels `beyond` their edges.
std::optional<PanelPoint> meet(std::span<const io::DialsPanel> panels, const Vec3 &ray,
                               double beyond = 0, std::vector<PanelPoint> *beside = nullptr);

/// Where the line of a ray meets a panel's plane; none behind the sample.
std::optional<std::array<double, 2>> meetPlane(const io::DialsPanel &panel, const Vec3 &ray);

/// Pixels from mm. In a sensor with parallax, the mean place of detection of the ray, as dxtbx's
/// ParallaxCorrectedPxMmStrategy has it: its mean depth of absorption behind the plane, where
/// photons that pass the sensor count with depth 0.
std::array<double, 2> toPixel(const io::DialsPanel &panel, const std::array<double, 2> &mm);

} // namespace nanobragg
#endif
