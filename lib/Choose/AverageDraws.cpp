#include "lib/Choose/AverageDraws.h"

#include "lib/Experiment/NormalQuantiles.h"
#include "lib/Experiment/Philox.h"
#include "lib/Program/Parameters.h"

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

namespace nanobragg {
namespace {

/// The normal deviate below which there is a share u of the distribution.
double normalDeviate(double u) {
  return std::copysign(quantileOfMagnitude(std::fabs(2 * u - 1)), u - 0.5);
}

/// A primitive polynomial of a Sobol sequence: its degree, its inner coefficients as bits, and the
/// first direction numbers.
struct Polynomial {
  unsigned degree, coefficients;
  std::array<std::uint32_t, 5> first;
};
/// For all dimensions but the first: S. Joe, F. Y. Kuo, SIAM J. Sci. Comput. 30, 2635 (2008).
constexpr Polynomial polynomials[] = {
    {1, 0, {1}},          {2, 1, {1, 3}},        {3, 1, {1, 3, 1}},        {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}}, {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}}, {5, 4, {1, 1, 5, 5, 5}},
};

constexpr unsigned bits = 32;
using Directions = std::array<std::uint32_t, bits>;

Directions directionsOf(std::size_t dimension) {
  Directions v{};
  if (dimension == 0) {
    for (unsigned k = 0; k != bits; ++k)
      v[k] = 1u << (bits - 1 - k);
    return v;
  }
  const auto &[degree, coefficients, first] = polynomials[dimension - 1];
  for (unsigned k = 0; k != bits; ++k) {
    if (k < degree) {
      v[k] = first[k] << (bits - 1 - k);
      continue;
    }
    v[k] = v[k - degree] ^ (v[k - degree] >> degree);
    for (unsigned j = 1; j != degree; ++j)
      if (coefficients >> (degree - 1 - j) & 1)
        v[k] ^= v[k - j];
  }
  return v;
}

/// Number i of the sequence, in parts that begin at powers of two: each is shifted by random digits
/// of its own, so that it tells how far off those before it are.
double pointOf(const Directions &directions, std::size_t dimension, std::uint32_t i) {
  const auto part = std::uint32_t(std::bit_width(i));
  std::uint32_t x = Philox{}({part, std::uint32_t(dimension), 0, 0})[0];
  for (unsigned bit = 0; bit != part; ++bit)
    if (i >> bit & 1)
      x ^= directions[bit];
  return (double(x) + 0.5) * 0x1p-32;
}

struct Dimension {
  bool normal;
  std::function<double &(std::size_t draw)> place;
};

} // namespace

void drawAverage(const ProgramVariant &variant, std::int64_t first, std::int64_t draws,
                 Average &a) {
  std::vector<Dimension> dimensions;
  const auto add = [&](std::string_view parameter, bool normal, auto place) {
    if (findParameter(parameter)->isUsedBy(variant))
      dimensions.push_back({normal, place});
  };
  const auto column = [&](std::vector<double> &values) {
    values.assign(std::size_t(draws), 0);
    return [&values](std::size_t i) -> double & { return values[i]; };
  };
  add("draw_fast", false, column(a.fast));
  add("draw_slow", false, column(a.slow));
  add("draw_phi", false, column(a.phi));
  add("draw_wavelength", true, column(a.wavelength));
  add("draw_hdiv", true, column(a.hdiv));
  add("draw_vdiv", true, column(a.vdiv));
  a.rotation.assign(std::size_t(draws), {});
  for (std::size_t axis = 0; axis != 3; ++axis)
    add("draw_rotation", true,
        [&a, axis](std::size_t i) -> double & { return a.rotation[i][axis]; });

  for (std::size_t d = 0; d != dimensions.size(); ++d) {
    const Directions directions = directionsOf(d);
    for (std::int64_t i = 0; i != draws; ++i) {
      const double u = pointOf(directions, d, std::uint32_t(first + i));
      dimensions[d].place(std::size_t(i)) = dimensions[d].normal ? normalDeviate(u) : u - 0.5;
    }
  }
}

} // namespace nanobragg
