// Spreading by a Fourier transform, for shares that are a sum of many products.
#ifndef NANOBRAGG_RESPONSE_FOURIERSPREAD_H
#define NANOBRAGG_RESPONSE_FOURIERSPREAD_H

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace nanobragg {

/// Convolves images with shares that depend on |dx| and |dy| alone, tile by tile. Since such shares
/// have a real transform, two tiles go through one complex transform, as its real and its imaginary
/// part. Rounding is relative to the brightest pixel of the two.
class FourierSpread {
public:
  using Share = std::function<double(std::int64_t dx, std::int64_t dy)>;

  /// Edges of tiles that cost least for panels of this size, a power of two; 0 where the radius is
  /// too large for tiles.
  static std::int64_t edgeFor(std::int64_t radius, std::int64_t slowPixels,
                              std::int64_t fastPixels);
  /// Numbers that an image takes through stages of transforms with such tiles.
  static double work(std::int64_t edge, std::int64_t radius, std::int64_t panels,
                     std::int64_t slowPixels, std::int64_t fastPixels);

  FourierSpread(const Share &share, std::int64_t radius, std::int64_t edge);

  /// As PointSpreadFunction::apply. No pixel is below 0 where no pixel of its tile was.
  void apply(std::span<const double> image, std::int64_t slowPixels, std::int64_t fastPixels,
             std::span<double> result, int threads) const;

private:
  struct Tile;
  struct Workspace;

  void rows(Workspace &at, std::int64_t begin, std::int64_t end, bool back) const;
  void columns(Workspace &at) const;

  std::int64_t radius, edge;
  std::vector<double> cosines, sines; ///< half a turn in edge/2 steps
  std::vector<double> transfer;       ///< [column / 8][row][8], as the transform leaves them
};

} // namespace nanobragg
#endif
