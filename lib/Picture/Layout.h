// A picture of all panels as they stand in space.
#ifndef NANOBRAGG_PICTURE_LAYOUT_H
#define NANOBRAGG_PICTURE_LAYOUT_H

#include "lib/Choose/Defaults.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

/// Tones are 0 to 255; 255 is the brightest pixel.
struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> tones; ///< rows from the top

  /// Sets a pixel, if it is one of the picture.
  void set(std::int64_t x, std::int64_t y, std::uint8_t tone) {
    if (x >= 0 && x < width && y >= 0 && y < height)
      tones[std::size_t(y * width + x)] = tone;
  }
};

/// How the panels' pixels get into a picture: seen along the mean of their normals, the first
/// panel's fast axis to the right. One pixel of the picture is one of the detector, or several
/// where panels stand so far apart that the picture would be larger than `largest`.
class Layout {
public:
  explicit Layout(const CompleteExperiment &complete);

  /// Tones of the image, [panel][slow][fast] of equal frames. Where there is no panel, a tone
  /// between.
  Picture draw(std::span<const std::uint8_t> image) const;

  std::int64_t width() const { return columns; }
  std::int64_t height() const { return rows; }
  double pixelSize() const { return step; } ///< m, of the picture's pixels
  /// The place that a pixel of the picture shows, in m from the sample: on a panel or, between
  /// panels, of their mean plane. `owner`: from panelsOf.
  Vec3 positionOf(std::int64_t x, std::int64_t y, std::int32_t owner) const;
  /// The panel that each pixel of the picture shows, -1: none.
  const std::vector<std::int32_t> &owners() const { return shown; }

  static constexpr std::int64_t largest = 8192;

private:
  struct Panel {
    Vec3 corner{}, fast{}, slow{}; ///< m; the axes are one pixel long
    std::int64_t fastPixels = 0, slowPixels = 0;
    /// Picture coordinates of the corner and of a step along each axis.
    std::array<double, 2> at{}, right{}, down{};
    double depth = 0;
  };

  /// Panel coordinates of a picture's pixel; false outside of the panel.
  static bool pixelOf(const Panel &panel, double x, double y, double &fast, double &slow);
  void place();
  void assignOwners();

  std::vector<Panel> panels;
  std::int64_t frameFast, frameSlow;
  Vec3 u{}, v{}, normal{}; ///< the picture's axes in the laboratory
  double step;
  double originX = 0, originY = 0, meanDepth = 0; ///< m
  std::int64_t columns = 0, rows = 0;
  std::vector<std::int32_t> shown;
};

} // namespace nanobragg
#endif
