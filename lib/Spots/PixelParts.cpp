#include "lib/Spots/PixelParts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace nanobragg {
namespace {

struct Node {
  double at, weight; ///< in a pixel from 0 to 1
};
constexpr std::array<Node, 4> nodes = {{{0.0694318442029737, 0.1739274225687269},
                                        {0.3300094782075719, 0.3260725774312731},
                                        {0.6699905217924281, 0.3260725774312731},
                                        {0.9305681557970263, 0.1739274225687269}}};
constexpr double farthest = 6;     // standard deviations along fast
constexpr double narrowest = 1e-4; // variance along slow at one place along fast, pixels^2
constexpr double nodesTo = 0.4;    // pixels: light that changes over less has more nodes

} // namespace

void pixelParts(const NormalSpot &spot, std::size_t half, std::span<double> result) {
  const std::size_t edge = 2 * half + 1;
  std::ranges::fill(result, 0.0);
  const double deviation = std::sqrt(spot.fastFast), slope = spot.fastSlow / spot.fastFast;
  const double across = std::max(spot.slowSlow - slope * spot.fastSlow, narrowest),
               wide = std::sqrt(2 * across);
  const double steepness = std::sqrt(1 / spot.fastFast + slope * slope / across);
  const double pieces = std::max(1.0, std::ceil(nodesTo * steepness));
  const double height = 0.5 / (std::sqrt(2 * std::numbers::pi) * deviation);
  const double firstFast = std::floor(spot.fast) - double(half) - spot.fast,
               firstSlow = std::floor(spot.slow) - double(half) - spot.slow;
  const auto addNode = [&](std::size_t f, double at, double weight) {
    const double along = firstFast + double(f) + at, units = along / deviation;
    if (std::abs(units) > farthest)
      return;
    weight *= height * std::exp(-0.5 * units * units);
    double below = std::erf((firstSlow - slope * along) / wide);
    for (std::size_t s = 0; s != edge; ++s) {
      const double above = std::erf((firstSlow + double(s + 1) - slope * along) / wide);
      result[s * edge + f] += weight * (above - below);
      below = above;
    }
  };
  for (std::size_t f = 0; f != edge; ++f)
    for (double piece = 0; piece != pieces; ++piece)
      for (const Node &node : nodes)
        addNode(f, (piece + node.at) / pieces, node.weight / pieces);
}

} // namespace nanobragg
