#include "lib/Response/FourierSpread.h"

#include "lib/Parallel/ThreadTeam.h"
#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#ifdef __clang__
#pragma clang fp contract(off)
#endif

namespace nanobragg {
namespace {

/// Rows or columns that are transformed together, one in each lane.
constexpr std::int64_t lanes = 8;
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

/// Complex numbers of all lanes.
struct Strip {
  explicit Strip(std::int64_t edge) : re(std::size_t(edge)), im(std::size_t(edge)) {}
  std::vector<Lanes> re, im;
};

/// To the frequencies in reversed order of their bits (decimation in frequency).
NB_VECTORIZED
void forward(Lanes *re, Lanes *im, std::int64_t edge, const double *cosines, const double *sines) {
  for (std::int64_t half = edge / 2; half != 0; half /= 2)
    for (std::int64_t j = 0; j != half; ++j) {
      const double c = cosines[j * (edge / 2 / half)], s = sines[j * (edge / 2 / half)];
      for (std::int64_t a = j; a < edge; a += 2 * half) {
        const std::int64_t b = a + half;
        const Lanes x = re[a] - re[b], y = im[a] - im[b];
        re[a] += re[b];
        im[a] += im[b];
        re[b] = c * x + s * y;
        im[b] = c * y - s * x;
      }
    }
}

/// Back again, but for the factor 1/edge (decimation in time).
NB_VECTORIZED
void backward(Lanes *re, Lanes *im, std::int64_t edge, const double *cosines, const double *sines) {
  for (std::int64_t half = 1; half != edge; half *= 2)
    for (std::int64_t j = 0; j != half; ++j) {
      const double c = cosines[j * (edge / 2 / half)], s = sines[j * (edge / 2 / half)];
      for (std::int64_t a = j; a < edge; a += 2 * half) {
        const std::int64_t b = a + half;
        const Lanes x = c * re[b] - s * im[b], y = c * im[b] + s * re[b];
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
      }
    }
}

NB_VECTORIZED
void multiply(Lanes *re, Lanes *im, const double *by, std::int64_t edge) {
  for (std::int64_t i = 0; i != edge; ++i)
    for (std::int64_t lane = 0; lane != lanes; ++lane) {
      re[i][lane] *= by[i * lanes + lane];
      im[i][lane] *= by[i * lanes + lane];
    }
}

} // namespace

/// Where a tile's inner square begins, and which panel it is of.
struct FourierSpread::Tile {
  std::int64_t panel, slow, fast;
};

/// One complex tile.
struct FourierSpread::Workspace {
  explicit Workspace(std::int64_t edge)
      : stride(edge + lanes), // no power of two, of which the cache keeps few
        re(std::size_t(edge * stride)), im(re.size()), strip(edge) {}
  std::int64_t stride;
  std::vector<double> re, im;
  Strip strip;
};

std::int64_t FourierSpread::edgeFor(std::int64_t radius, std::int64_t slowPixels,
                                    std::int64_t fastPixels) {
  std::int64_t best = 0;
  constexpr std::int64_t largest = 4096; // 256 MB for each thread
  for (std::int64_t edge = 32; edge <= largest; edge *= 2)
    if (edge > 2 * radius && (best == 0 || work(edge, radius, 2, slowPixels, fastPixels) <
                                               work(best, radius, 2, slowPixels, fastPixels)))
      best = edge;
  return best;
}

double FourierSpread::work(std::int64_t edge, std::int64_t radius, std::int64_t panels,
                           std::int64_t slowPixels, std::int64_t fastPixels) {
  const std::int64_t inner = edge - 2 * radius;
  const std::int64_t across = (fastPixels + inner - 1) / inner,
                     down = (slowPixels + inner - 1) / inner;
  const double tiles = double(panels * down * across);
  // Rows and columns, there and back, and what moves them.
  return std::ceil(tiles / 2) * double(edge * edge) * 4 * (std::log2(double(edge)) + 4);
}

FourierSpread::FourierSpread(const Share &share, std::int64_t radius, std::int64_t edge)
    : radius(radius), edge(edge), transfer(std::size_t(edge * edge)) {
  for (std::int64_t i = 0; i != edge / 2; ++i) {
    cosines.push_back(std::cos(2 * std::numbers::pi * double(i) / double(edge)));
    sines.push_back(std::sin(2 * std::numbers::pi * double(i) / double(edge)));
  }
  Workspace at(edge);
  for (std::int64_t y = -radius; y <= radius; ++y)
    for (std::int64_t x = -radius; x <= radius; ++x)
      at.re[std::size_t((y + edge) % edge * at.stride + (x + edge) % edge)] =
          share(x, y) / double(edge) / double(edge);
  rows(at, 0, edge, false);
  for (std::int64_t first = 0; first != edge; first += lanes) {
    for (std::int64_t row = 0; row != edge; ++row)
      for (std::int64_t lane = 0; lane != lanes; ++lane) {
        const auto from = std::size_t(row * at.stride + first + lane);
        at.strip.re[std::size_t(row)][lane] = at.re[from];
        at.strip.im[std::size_t(row)][lane] = at.im[from];
      }
    forward(at.strip.re.data(), at.strip.im.data(), edge, cosines.data(), sines.data());
    for (std::int64_t row = 0; row != edge; ++row)
      for (std::int64_t lane = 0; lane != lanes; ++lane)
        transfer[std::size_t(first * edge + row * lanes + lane)] =
            at.strip.re[std::size_t(row)][lane];
  }
}

void FourierSpread::rows(Workspace &at, std::int64_t begin, std::int64_t end, bool back) const {
  Lanes *re = at.strip.re.data(), *im = at.strip.im.data();
  for (std::int64_t first = begin / lanes * lanes; first < end; first += lanes) {
    for (std::int64_t lane = 0; lane != lanes; ++lane)
      for (std::int64_t i = 0; i != edge; ++i) {
        re[i][lane] = at.re[std::size_t((first + lane) * at.stride + i)];
        im[i][lane] = at.im[std::size_t((first + lane) * at.stride + i)];
      }
    (back ? backward : forward)(re, im, edge, cosines.data(), sines.data());
    for (std::int64_t lane = 0; lane != lanes; ++lane)
      for (std::int64_t i = 0; i != edge; ++i) {
        at.re[std::size_t((first + lane) * at.stride + i)] = re[i][lane];
        at.im[std::size_t((first + lane) * at.stride + i)] = im[i][lane];
      }
  }
}

/// There, times the transfer function, and back.
void FourierSpread::columns(Workspace &at) const {
  Lanes *re = at.strip.re.data(), *im = at.strip.im.data();
  for (std::int64_t first = 0; first != edge; first += lanes) {
    for (std::int64_t row = 0; row != edge; ++row)
      for (std::int64_t lane = 0; lane != lanes; ++lane) {
        re[row][lane] = at.re[std::size_t(row * at.stride + first + lane)];
        im[row][lane] = at.im[std::size_t(row * at.stride + first + lane)];
      }
    forward(re, im, edge, cosines.data(), sines.data());
    multiply(re, im, &transfer[std::size_t(first * edge)], edge);
    backward(re, im, edge, cosines.data(), sines.data());
    for (std::int64_t row = 0; row != edge; ++row)
      for (std::int64_t lane = 0; lane != lanes; ++lane) {
        at.re[std::size_t(row * at.stride + first + lane)] = re[row][lane];
        at.im[std::size_t(row * at.stride + first + lane)] = im[row][lane];
      }
  }
}

void FourierSpread::apply(std::span<const double> image, std::int64_t slowPixels,
                          std::int64_t fastPixels, std::span<double> result, int threads) const {
  const std::int64_t panelPixels = slowPixels * fastPixels, inner = edge - 2 * radius;
  std::vector<Tile> tiles;
  for (std::int64_t panel = 0; panel != std::int64_t(image.size()) / panelPixels; ++panel)
    for (std::int64_t slow = 0; slow < slowPixels; slow += inner)
      for (std::int64_t fast = 0; fast < fastPixels; fast += inner)
        tiles.push_back({panel, slow, fast});

  /// The light that reaches a tile's inner square; says whether there is some below 0.
  const auto take = [&](const Tile &tile, Workspace &at, std::vector<double> &part) {
    bool negative = false;
    std::ranges::fill(part, 0);
    const std::int64_t left = tile.fast - radius, first = std::max<std::int64_t>(0, left),
                       last = std::min(fastPixels, left + edge);
    for (std::int64_t y = 0; y != edge; ++y) {
      const std::int64_t slow = tile.slow - radius + y;
      if (slow < 0 || slow >= slowPixels)
        continue;
      const double *from = &image[std::size_t(tile.panel * panelPixels + slow * fastPixels)];
      double *to = &part[std::size_t(y * at.stride)];
      for (std::int64_t x = first; x < last; ++x) {
        negative |= from[x] < 0;
        to[x - left] = from[x];
      }
    }
    return negative;
  };
  const auto give = [&](const Tile &tile, const Workspace &at, const std::vector<double> &part,
                        bool negative) {
    for (std::int64_t y = 0; y != std::min(inner, slowPixels - tile.slow); ++y)
      for (std::int64_t x = 0; x != std::min(inner, fastPixels - tile.fast); ++x) {
        const double light = part[std::size_t((y + radius) * at.stride + x + radius)];
        result[std::size_t(tile.panel * panelPixels + (tile.slow + y) * fastPixels + tile.fast +
                           x)] = negative ? light : std::max(0.0, light);
      }
  };

  const auto pairs = std::int64_t(tiles.size() + 1) / 2;
  ThreadTeam team(int(std::min<std::int64_t>(threadsOf(threads), pairs)));
  std::vector<Workspace> memory;
  for (int thread = 0; thread != team.size(); ++thread)
    memory.emplace_back(edge);
  team.forEach(pairs, [&](std::int64_t pair, int thread) {
    Workspace &at = memory[std::size_t(thread)];
    const auto i = std::size_t(2 * pair);
    const bool two = i + 1 != tiles.size();
    const bool negative = take(tiles[i], at, at.re);
    const bool otherNegative = two && take(tiles[i + 1], at, at.im);
    if (!two)
      std::ranges::fill(at.im, 0);
    rows(at, 0, edge, false);
    columns(at);
    rows(at, radius, edge - radius, true);
    give(tiles[i], at, at.re, negative);
    if (two)
      give(tiles[i + 1], at, at.im, otherNegative);
  });
}

} // namespace nanobragg
