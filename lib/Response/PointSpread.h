// Light that spreads in a detector.
#ifndef NANOBRAGG_RESPONSE_POINTSPREAD_H
#define NANOBRAGG_RESPONSE_POINTSPREAD_H

#include "lib/Experiment/ProgramVariant.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace nanobragg {

/// Rows and columns of an image, the ends not included.
struct PixelBox {
  std::int64_t slowBegin = 0, slowEnd = 0, fastBegin = 0, fastEnd = 0;
};

/// Where a point's light goes: its share in the pixel dx columns and dy rows away, dx and dy up to
/// the radius. A share is the exact integral of the point spread over the pixel,
///   gauss: exp(-4 ln 2 (r/w)^2) 4 ln 2 / (pi w^2)      fiber: g / (2 pi) (g^2 + r^2)^(-3/2)
/// with w the full width at half maximum and g = 0.652383013252053 w, both in pixels, divided by
/// that over the whole square of (2 radius + 1)^2 pixels: no photon is lost or made within. Fiber:
/// J. M. Holton, C. Nielsen, K. A. Frankel, J. Synchrotron Rad. 19 (2012) 1006.
class PointSpreadFunction {
public:
  /// `order` 0, or 1 or 2 for the derivative with respect to the width. Shares further than
  /// `imageEdge`, which no image with as many rows and columns needs, are not computed; the others
  /// do not depend on it. Throws std::invalid_argument for a width that is not above 0 and finite,
  /// or a radius below 0.
  PointSpreadFunction(PointSpread kind, double widthInPixels, std::int64_t radius, int order = 0,
                      std::int64_t imageEdge = std::numeric_limits<std::int64_t>::max());

  double share(std::int64_t dx, std::int64_t dy) const;
  /// The radius of the shares that an image of the given size needs.
  std::int64_t radius() const { return reach; }
  /// Products of a function of dx and one of dy that add up to the shares.
  std::size_t terms() const { return columns.size(); }

  /// The image spread, [panel][slow][fast]. Light that leaves a panel is lost. Since a share
  /// depends on distances alone this is its own transpose. The same for any number of threads.
  void apply(std::span<const double> image, std::int64_t slowPixels, std::int64_t fastPixels,
             std::span<double> result, int threads) const;

  /// Computes the light in a box of an image of one panel; the rest of the result is left as it is.
  /// Costs what the box and its margins take.
  void applyInBox(std::span<const double> image, std::int64_t fastPixels, const PixelBox &box,
                  std::span<double> result) const;
  /// The transpose: the light of what is in the box, in the whole image.
  void applyOfBox(std::span<const double> image, std::int64_t fastPixels, const PixelBox &box,
                  std::span<double> result) const;

private:
  void factor(double rounding);
  std::int64_t fourierEdge(std::int64_t panels, std::int64_t slowPixels,
                           std::int64_t fastPixels) const;

  std::int64_t reach;
  std::vector<double> shares; ///< at dx, dy >= 0, which stand for all
  std::vector<std::vector<double>> rows, columns;
};

} // namespace nanobragg
#endif
