#include "runtime/processor/PointLoops.h"

#include "lib/Parallel/Vectorized.h"

#include <cmath>

namespace nanobragg::loops {
namespace {

/// Errors of a few roundings in single precision.
constexpr float wider = 1 + 1e-5F;

NB_INLINE float larger(float a, float b) { return a > b ? a : b; }

NB_INLINE float fraction(float a, float b, float c, float offset, float x, float y, float z) {
  const float h = a * x + (b * y + (c * z + offset));
  return h - std::rint(h);
}

/// Bit i: valueOf(i) <= bound.
template <typename Value>
NB_INLINE unsigned bitsBelow(float bound, Value valueOf) {
  // These are vectors of their own: out of a loop over bits come shifts of bytes, not the one
  // instruction.
  using Floats = float __attribute__((ext_vector_type(16)));
  using Bits = bool __attribute__((ext_vector_type(16)));
  alignas(Floats) float values[16];
  for (int i = 0; i < 16; ++i)
    values[i] = valueOf(i);
  const Bits bits = __builtin_convertvector(__builtin_bit_cast(Floats, values) <= bound, Bits);
  return __builtin_bit_cast(std::uint16_t, bits);
}

NB_INLINE float longestOf(const float *x, const float *y, const float *z) {
  float most = 0;
  for (int i = 0; i < pixelsAtOnce; ++i)
    most = larger(x[i] * x[i] + y[i] * y[i] + z[i] * z[i], most);
  return std::sqrt(most) * wider;
}

/// The lattice in the middle of a cluster decides for sixteen pixels whether some lattice of the
/// cluster may have light; then each of these pixels is looked at for all lattices.
template <typename OfCluster, typename OfLattice>
NB_INLINE void setBits(const Cluster *clusters, std::int64_t count, const Points &points,
                       const BlockBits &bits, const OfCluster &ofCluster,
                       const OfLattice &ofLattice) {
  for (std::int64_t kind = 0; kind < points.kinds; ++kind)
    for (std::int64_t first = 0; first < points.pixels; first += pixelsAtOnce) {
      const std::int64_t from = kind * points.stride + first;
      const float *x = points.x + from, *y = points.y + from, *z = points.z + from;
      const float length = longestOf(x, y, z);
      const std::int64_t left = points.pixels - first;
      const unsigned inRow = left < pixelsAtOnce ? (1U << left) - 1 : ~0U;
      for (std::int64_t i = 0; i != count; ++i) {
        const Cluster &c = clusters[i];
        float room[3];
        for (int axis = 0; axis < 3; ++axis)
          room[axis] = (c.axisSpread[axis] * length + c.offsetSpread[axis]) * wider;
        const auto near = ofCluster.widened(room);
        unsigned pixels =
            inRow & bitsBelow(near.bound, [&](int p) __attribute__((always_inline)) {
              const auto at = [&](int axis) __attribute__((always_inline)) {
                return fraction(c.axis[3 * axis], c.axis[3 * axis + 1], c.axis[3 * axis + 2],
                                c.offset[axis], x[p], y[p], z[p]);
              };
              return near(at(0), at(1), at(2));
            });
        for (; pixels; pixels &= pixels - 1) {
          const int p = __builtin_ctz(pixels);
          const Lattices &l = c.lattices;
          const float px = x[p], py = y[p], pz = z[p];
          const unsigned some =
              bitsBelow(ofLattice.bound, [&](int j) __attribute__((always_inline)) {
                const auto at = [&](int axis) __attribute__((always_inline)) {
                  return fraction(l.axis[3 * axis][j], l.axis[3 * axis + 1][j],
                                  l.axis[3 * axis + 2][j], l.offset[axis][j], px, py, pz);
                };
                return ofLattice(at(0), at(1), at(2));
              });
          constexpr std::int64_t perWord = 64 / latticesAtOnce;
          bits.words[bits.wordOf[first + p] + i / perWord] |= std::uint64_t(some)
                                                              << i % perWord * latticesAtOnce;
        }
      }
    }
}

NB_INLINE float factorOf(const Envelope &e, int c, float x) {
  return x * (e.first[c] - e.second[c] * x);
}

/// The test of a grating's envelope, for distances that may be smaller by `room`: each factor grows
/// with the distance.
struct ClusterInEnvelope {
  const Envelope &e;
  float bound, room[3];
  NB_INLINE explicit ClusterInEnvelope(const Envelope &e) : e(e), bound(e.bound), room{} {}
  NB_INLINE ClusterInEnvelope widened(const float *by) const {
    ClusterInEnvelope result(e);
    for (int c = 0; c < 3; ++c)
      result.room[c] = by[c];
    return result;
  }
  NB_INLINE float operator()(float x, float y, float z) const {
    const float d[] = {std::fabs(x), std::fabs(y), std::fabs(z)};
    float product = 1;
    for (int c = 0; c < 3; ++c)
      product *= larger(factorOf(e, c, larger(d[c] - room[c], 0)), 1);
    return product;
  }
};

struct InEnvelope {
  const Envelope &e;
  float bound;
  NB_INLINE explicit InEnvelope(const Envelope &e) : e(e), bound(e.bound) {}
  NB_INLINE float operator()(float x, float y, float z) const {
    const float d[] = {std::fabs(x), std::fabs(y), std::fabs(z)};
    float product = 1;
    for (int c = 0; c < 3; ++c)
      product *= larger(factorOf(e, c, d[c]), 1);
    return product;
  }
};

/// The test of a grating with its fringes: |sin(pi y)| <= 4 y (1 - y) for 0 <= y <= 1/2.
struct InFringes {
  const Envelope &e;
  float bound = 0;
  NB_INLINE explicit InFringes(const Envelope &e) : e(e) {}
  NB_INLINE float operator()(float x, float y, float z) const {
    const float d[] = {std::fabs(x), std::fabs(y), std::fabs(z)};
    float product = 1, fringes = e.fringeBound;
    for (int c = 0; c < 3; ++c) {
      const float phase = e.cells[c] * d[c], turn = std::fabs(phase - std::rint(phase));
      const float sine = turn * (4 - 4 * turn) + e.error[c];
      fringes *= sine;
      product *= larger(factorOf(e, c, d[c]) - e.error[c], sine);
    }
    return product - fringes;
  }
};

/// The test of an ellipsoid. The root of the form is a norm, as long as the nearest whole numbers
/// stay the same.
struct InForm {
  const Form &f;
  float bound;
  NB_INLINE explicit InForm(const Form &f) : f(f), bound(f.bound) {}
  NB_INLINE InForm widened(const float *by) const {
    const float a = by[0], b = by[1], c = by[2];
    const float most =
        f.xx * a * a + f.yy * b * b + f.zz * c * c +
        (std::fabs(f.xy) * a * b + std::fabs(f.xz) * a * c + std::fabs(f.yz) * b * c);
    const bool same = a + f.extent[0] < 0.5F && b + f.extent[1] < 0.5F && c + f.extent[2] < 0.5F;
    const float root = (std::sqrt(f.bound) + std::sqrt(most)) * wider;
    InForm result(f);
    result.bound = same ? root * root : INFINITY;
    return result;
  }
  NB_INLINE float operator()(float x, float y, float z) const {
    return x * (f.xx * x + f.xy * y + f.xz * z) + y * (f.yy * y + f.yz * z) + z * z * f.zz;
  }
};

} // namespace

NB_VECTORIZED void findLit(const Cluster *clusters, std::int64_t count, const Envelope &envelope,
                           const Points &points, const BlockBits &bits) {
  if (envelope.fringeBound > 0)
    setBits(clusters, count, points, bits, ClusterInEnvelope(envelope), InFringes(envelope));
  else
    setBits(clusters, count, points, bits, ClusterInEnvelope(envelope), InEnvelope(envelope));
}

NB_VECTORIZED void findLit(const Cluster *clusters, std::int64_t count, const Form &form,
                           const Points &points, const BlockBits &bits) {
  setBits(clusters, count, points, bits, InForm(form), InForm(form));
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
