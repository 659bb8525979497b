// Spots of a panel by the place where they are, for pixels in any order.
#ifndef NANOBRAGG_RUNTIME_SPOTGRID_H
#define NANOBRAGG_RUNTIME_SPOTGRID_H

#include "runtime/processor/Range.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

/// A spot of a table, and the pixels that it may light: an ellipse.
struct LitSpot {
  std::int32_t number, slowFirst, slowLast;
  double fast, slow, fastExtent, slowExtent, correlation;
  /// The first and the last pixel of some rows. Without light, the last is before the first.
  Range columnsOf(std::int64_t firstRow, std::int64_t lastRow) const;
};

/// Some pixels of a panel.
struct PixelBox {
  Range fast, slow;
};

/// Squares of a panel, each with a list of the spots that reach it.
class SpotGrid {
public:
  /// The spots that reach a box of pixels; those outside are never asked for.
  SpotGrid(std::span<const LitSpot> spots, const PixelBox &pixels);

  /// Calls `add` with each spot that may light a pixel of the box, once.
  template <typename Add>
  void forEach(const PixelBox &box, Add &&add) const {
    const PixelBox squares = squaresOf(box);
    for (std::int64_t s = squares.slow.first; s <= squares.slow.last; ++s)
      for (std::int64_t f = squares.fast.first; f <= squares.fast.last; ++f)
        for (const LitSpot *spot : spotsOf(s, f)) {
          if (box.slow.first > spot->slowLast || box.slow.last < spot->slowFirst ||
              double(box.fast.first) > spot->fast + spot->fastExtent ||
              double(box.fast.last + 1) < spot->fast - spot->fastExtent)
            continue;
          // A spot of several squares counts in the first of them.
          if (std::max(squares.slow.first, squareOf(spot->slowFirst, pixels.slow)) != s ||
              std::max(squares.fast.first, firstSquare(*spot)) != f)
            continue;
          const Range lit = spot->columnsOf(std::max<std::int64_t>(box.slow.first, spot->slowFirst),
                                            std::min<std::int64_t>(box.slow.last, spot->slowLast));
          if (lit.first <= box.fast.last && lit.last >= box.fast.first)
            add(*spot);
        }
  }

private:
  static constexpr std::int64_t edge = 32; ///< pixels
  std::int64_t squareOf(std::int64_t pixel, const Range &of) const {
    return (std::clamp(pixel, of.first, of.last) - of.first) / edge;
  }
  std::int64_t firstSquare(const LitSpot &spot) const;
  PixelBox squaresOf(const PixelBox &box) const {
    return {{squareOf(box.fast.first, pixels.fast), squareOf(box.fast.last, pixels.fast)},
            {squareOf(box.slow.first, pixels.slow), squareOf(box.slow.last, pixels.slow)}};
  }
  std::span<const LitSpot *const> spotsOf(std::int64_t slow, std::int64_t fast) const {
    const auto square = std::size_t(slow * squaresPerRow + fast);
    return {listed.data() + begin[square], begin[square + 1] - begin[square]};
  }

  PixelBox pixels;
  std::int64_t squaresPerRow = 0;
  std::vector<std::size_t> begin; ///< where the list of each square begins, and the last one ends
  std::vector<const LitSpot *> listed;
};

} // namespace nanobragg
#endif
