#include "runtime/processor/PointLoops.h"

#include "lib/Parallel/Vectorized.h"

#include <cmath>

namespace nanobragg::loops {
namespace {

NB_INLINE float distance(const Lattices &l, int c, int i, float x, float y, float z) {
  const float h = l.axis[3 * c][i] * x +
                  (l.axis[3 * c + 1][i] * y + (l.axis[3 * c + 2][i] * z + l.offset[c][i]));
  return h - std::rint(h);
}

/// `measure(x, y, z)` of the least sample of each lattice, against the bound.
template <typename Measure>
NB_INLINE unsigned bitsBelow(const Lattices &l, const Points &points, float bound,
                             Measure measure) {
  float least[latticesAtOnce];
  for (float &v : least)
    v = INFINITY;
  for (std::int64_t kind = 0; kind < points.kinds; ++kind)
    for (std::int64_t pixel = 0; pixel < points.pixels; ++pixel) {
      const std::int64_t p = kind * points.stride + pixel;
      const float x = points.x[p], y = points.y[p], z = points.z[p];
      for (int i = 0; i < latticesAtOnce; ++i) {
        const float value = measure(distance(l, 0, i, x, y, z), distance(l, 1, i, x, y, z),
                                    distance(l, 2, i, x, y, z));
        least[i] = value < least[i] ? value : least[i];
      }
    }
  unsigned bits = 0;
  for (int i = 0; i < latticesAtOnce; ++i)
    bits |= least[i] <= bound ? 1u << i : 0;
  return bits;
}

template <typename Measure>
NB_INLINE void setBits(const Lattices *lattices, std::int64_t count, const Points &points,
                       float bound, std::uint64_t *words, Measure measure) {
  constexpr std::int64_t perWord = 64 / latticesAtOnce;
  for (std::int64_t i = 0; i != count; ++i)
    words[i / perWord] |= std::uint64_t(bitsBelow(lattices[i], points, bound, measure))
                          << i % perWord * latticesAtOnce;
}

} // namespace

NB_VECTORIZED void findLit(const Lattices *lattices, std::int64_t count, const Envelope &e,
                           const Points &points, std::uint64_t *words) {
  setBits(lattices, count, points, e.bound, words,
          [e](float x, float y, float z) __attribute__((always_inline)) {
            const float d[] = {std::fabs(x), std::fabs(y), std::fabs(z)};
            float product = 1;
            for (int c = 0; c < 3; ++c) {
              const float factor = d[c] * (e.first[c] - e.second[c] * d[c]);
              product *= factor > 1 ? factor : 1;
            }
            return product;
          });
}

NB_VECTORIZED void findLit(const Lattices *lattices, std::int64_t count, const Form &f,
                           const Points &points, std::uint64_t *words) {
  setBits(lattices, count, points, f.bound, words,
          [f](float x, float y, float z) __attribute__((always_inline)) {
            return x * (f.xx * x + f.xy * y + f.xz * z) + y * (f.yy * y + f.yz * z) + z * z * f.zz;
          });
}

NB_VECTORIZED void findDirections(const Row &row, std::int64_t count, float *x, float *y,
                                  float *z) {
  const double last = double(row.lastPixel);
  for (std::int64_t i = 0; i < count; ++i) {
    const double t = double(i) < last ? double(i) : last;
    const double px = row.first[0] + t * row.step[0], py = row.first[1] + t * row.step[1],
                 pz = row.first[2] + t * row.step[2];
    const double inverse = 1 / std::sqrt(px * px + py * py + pz * pz);
    x[i] = float(px * inverse - row.common[0]);
    y[i] = float(py * inverse - row.common[1]);
    z[i] = float(pz * inverse - row.common[2]);
  }
}

NB_VECTORIZED float longestSquare(const float *x, const float *y, const float *z,
                                  std::int64_t count) {
  constexpr std::int64_t lanes = 16;
  float most[lanes] = {};
  std::int64_t i = 0;
  const auto take = [&](std::int64_t lane, std::int64_t at) __attribute__((always_inline)) {
    const float square = x[at] * x[at] + y[at] * y[at] + z[at] * z[at];
    most[lane] = square > most[lane] ? square : most[lane];
  };
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      take(lane, i + lane);
  for (; i < count; ++i)
    take(0, i);
  float result = 0;
  for (float value : most)
    result = value > result ? value : result;
  return result * (1 + 1e-5F);
}

} // namespace nanobragg::loops
