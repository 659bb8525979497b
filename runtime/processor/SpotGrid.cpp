#include "runtime/processor/SpotGrid.h"

#include <cmath>

namespace nanobragg {

Range LitSpot::columnsOf(std::int64_t firstRow, std::int64_t lastRow) const {
  // Where slow is s times its extent, fast is between correlation * s -+ sqrt((1 - correlation^2)
  // (1 - s^2)) times its own; it is largest, 1, at s = correlation.
  const auto partOf = [&](std::int64_t edge) {
    return slowExtent > 0 ? std::clamp((double(edge) - slow) / slowExtent, -1.0, 1.0) : 0;
  };
  const double begin = partOf(firstRow), end = partOf(lastRow + 1);
  const double rest = 1 - correlation * correlation;
  const auto farthest = [&](double side) {
    const double s = std::clamp(side * correlation, begin, end);
    return fast + fastExtent * (correlation * s + side * std::sqrt(rest * (1 - s * s)));
  };
  // Rounded down, without a call of a function.
  const auto column = [](double x) {
    const double bounded = std::clamp(x, -0x1p32, 0x1p32);
    const auto towardsZero = std::int64_t(bounded);
    return towardsZero - (double(towardsZero) > bounded);
  };
  return {column(farthest(-1)), column(farthest(1))};
}

std::int64_t SpotGrid::firstSquare(const LitSpot &spot) const {
  const double first = std::clamp(spot.fast - spot.fastExtent, -0x1p32, 0x1p32);
  return squareOf(std::int64_t(std::floor(first)), pixels.fast);
}

SpotGrid::SpotGrid(std::span<const LitSpot> spots, const PixelBox &pixels) : pixels(pixels) {
  const auto count = [&](const Range &r) { return squareOf(r.last, r) + 1; };
  squaresPerRow = count(pixels.fast);
  const auto forEachSquare = [&](const LitSpot &spot, auto &&take) {
    const double last = std::clamp(spot.fast + spot.fastExtent, -0x1p32, 0x1p32);
    for (std::int64_t s = squareOf(spot.slowFirst, pixels.slow);
         s <= squareOf(spot.slowLast, pixels.slow); ++s)
      for (std::int64_t f = firstSquare(spot); f <= squareOf(std::int64_t(last), pixels.fast); ++f)
        take(std::size_t(s * squaresPerRow + f));
  };
  begin.assign(std::size_t(count(pixels.slow) * squaresPerRow) + 1, 0);
  for (const LitSpot &spot : spots)
    forEachSquare(spot, [&](std::size_t square) { ++begin[square + 1]; });
  for (std::size_t i = 1; i != begin.size(); ++i)
    begin[i] += begin[i - 1];
  listed.resize(begin.back());
  std::vector<std::size_t> next(begin);
  for (const LitSpot &spot : spots)
    forEachSquare(spot, [&](std::size_t square) { listed[next[square]++] = &spot; });
}

} // namespace nanobragg
