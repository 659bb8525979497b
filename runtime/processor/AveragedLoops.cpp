#include "runtime/processor/AveragedLoops.h"

#include "lib/Parallel/Vectorized.h"

#include <cmath>
#include <cstring>

namespace nanobragg::loops {
namespace {

constexpr int lanes = int(placesAtOnce);
using Wide = double __attribute__((ext_vector_type(8)));
using Integers = std::int64_t __attribute__((ext_vector_type(8)));
using Flags = Integers;
using Bits = bool __attribute__((ext_vector_type(8)));

/// Functions that are compiled for several processors cannot hand bare vectors on.
struct Lanes {
  Wide v;
  Lanes() = default;
  NB_INLINE Lanes(double each) : v(each) {}
};
template <typename Make>
NB_INLINE Lanes lanesOf(const Make &make) {
  Lanes r;
  make(r.v);
  return r;
}
#define NB_LANES(f) lanesOf([&](Wide &to) __attribute__((always_inline)) { to = f; })
NB_INLINE Lanes operator+(Lanes a, Lanes b) { return NB_LANES(a.v + b.v); }
NB_INLINE Lanes operator-(Lanes a, Lanes b) { return NB_LANES(a.v - b.v); }
NB_INLINE Lanes operator*(Lanes a, Lanes b) { return NB_LANES(a.v * b.v); }
NB_INLINE Lanes operator/(Lanes a, Lanes b) { return NB_LANES(a.v / b.v); }
NB_INLINE void operator+=(Lanes &a, Lanes b) { a.v += b.v; }
NB_INLINE void operator-=(Lanes &a, Lanes b) { a.v -= b.v; }
NB_INLINE Lanes larger(Lanes a, Lanes b) { return NB_LANES(__builtin_elementwise_max(a.v, b.v)); }
NB_INLINE Lanes smaller(Lanes a, Lanes b) { return NB_LANES(__builtin_elementwise_min(a.v, b.v)); }
NB_INLINE Lanes above(Lanes a) { return NB_LANES(__builtin_elementwise_ceil(a.v)); }
NB_INLINE Lanes below(Lanes a) { return NB_LANES(__builtin_elementwise_floor(a.v)); }
NB_INLINE Lanes absolute(Lanes a) { return NB_LANES(__builtin_elementwise_abs(a.v)); }
NB_INLINE Lanes root(Lanes a) { return NB_LANES(__builtin_elementwise_sqrt(a.v)); }
NB_INLINE Lanes numbered(double first) { return NB_LANES((Wide{0, 1, 2, 3, 4, 5, 6, 7} + first)); }
NB_INLINE Lanes load(const double *from) {
  Lanes v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
NB_INLINE void store(double *to, Lanes v) { std::memcpy(to, &v, sizeof v); }
NB_INLINE double largest(Lanes a) {
  const auto four = __builtin_elementwise_max(__builtin_shufflevector(a.v, a.v, 0, 1, 2, 3),
                                              __builtin_shufflevector(a.v, a.v, 4, 5, 6, 7));
  const auto two = __builtin_elementwise_max(__builtin_shufflevector(four, four, 0, 1),
                                             __builtin_shufflevector(four, four, 2, 3));
  return two[0] > two[1] ? two[0] : two[1];
}
NB_INLINE double sumOf(Lanes a) {
  double sum = 0;
  for (int lane = 0; lane != lanes; ++lane)
    sum += a.v[lane];
  return sum;
}

struct Three {
  Lanes x, y, z;
};
/// xx, yy, zz, xy, xz, yz.
struct Symmetric {
  Lanes xx, yy, zz, xy, xz, yz;
};

NB_INLINE Lanes dot(const Three &a, const Three &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
NB_INLINE Three times(const double *m, const Three &v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}
NB_INLINE Three at(const Linear &l, const Three &v) {
  const Three m = times(l.matrix, v);
  return {m.x + l.offset[0], m.y + l.offset[1], m.z + l.offset[2]};
}
NB_INLINE void addSquare(Symmetric &to, const Three &v, Lanes f) {
  const Lanes x = f * v.x, y = f * v.y, z = f * v.z;
  to.xx += x * v.x, to.yy += y * v.y, to.zz += z * v.z;
  to.xy += x * v.y, to.xz += x * v.z, to.yz += y * v.z;
}
NB_INLINE Three times(const Symmetric &m, const Three &v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}
/// The inverse times the determinant, which is positive.
NB_INLINE Symmetric adjoint(const Symmetric &m) {
  return {m.yy * m.zz - m.yz * m.yz, m.xx * m.zz - m.xz * m.xz, m.xx * m.yy - m.xy * m.xy,
          m.xz * m.yz - m.xy * m.zz, m.xy * m.yz - m.xz * m.yy, m.xy * m.xz - m.yz * m.xx};
}
/// The integers from `low` to `high`.
struct Window {
  Lanes low, high;
  NB_INLINE Lanes count() const { return larger(high - low + 1.0, 0.0); }
};
NB_INLINE Window windowOf(Lanes at, Lanes half, double most) {
  return {larger(above(at - half), -most), smaller(below(at + half), most)};
}

/// The variables in which a reflection of eight places is asked for.
struct Spots {
  Three h;
  Symmetric covariance;
  Lanes ball;
  Three steps[3];
  Window window[3];
  Lanes count; ///< reflections in the windows
};

constexpr int mostExtents = 3;

/// For w along each axis the inequality says which integers there are.
NB_INLINE void findSpots(const AveragedBeam &b, const Places &p, std::int64_t place,
                         std::int64_t count, Spots &s) {
  const auto three = [&](double *const(&from)[3]) __attribute__((always_inline)) {
    return Three{load(from[0] + place), load(from[1] + place), load(from[2] + place)};
  };
  const Three d = three(p.d);
  s.h = at(b.index, d);
  Symmetric c{b.own[0], b.own[1], b.own[2], b.own[3], b.own[4], b.own[5]};
  for (std::int64_t i = 0; i < b.normals; ++i)
    addSquare(c, at(b.varied[i], d), b.bound2);

  Three half{0.0, 0.0, 0.0};
  const auto addHalf = [&](const Three &v) __attribute__((always_inline)) {
    half.x += absolute(v.x), half.y += absolute(v.y), half.z += absolute(v.z);
  };
  for (int i = 0; i < mostExtents; ++i) {
    if (i >= p.extents) {
      s.steps[i] = {0.0, 0.0, 0.0};
      continue;
    }
    const Three e = three(p.extent[i]);
    s.steps[i] = times(b.index.matrix, e);
    addHalf(s.steps[i]);
  }
  for (std::int64_t i = 0; i < b.boxes; ++i) {
    const Three j = at(b.varied[b.normals + i], d);
    addHalf({0.5 * j.x, 0.5 * j.y, 0.5 * j.z});
  }

  const Three change{d.x - b.k[0], d.y - b.k[1], d.z - b.k[2]};
  s.ball = b.perBend * load(p.bend + place) + b.perSize * load(p.size + place) +
           b.perChange * root(dot(change, change)) + b.always;
  s.covariance = c;
  s.window[0] = windowOf(s.h.x, root(c.xx) + half.x + s.ball * b.longest[0], b.most[0]);
  s.window[1] = windowOf(s.h.y, root(c.yy) + half.y + s.ball * b.longest[1], b.most[1]);
  s.window[2] = windowOf(s.h.z, root(c.zz) + half.z + s.ball * b.longest[2], b.most[2]);
  s.count = s.window[0].count() * s.window[1].count() * s.window[2].count();
  s.count.v = numbered(double(place)).v < double(count) ? s.count.v : Wide(0.0);
}

} // namespace

NB_VECTORIZED void findPlaces(const Boxes &b, std::int64_t count, const Places &to) {
  for (std::int64_t i = 0; i < count; i += lanes) {
    const Lanes t = smaller(numbered(double(i)), double(count - 1));
    const Three p{b.first[0] + t * b.step[0], b.first[1] + t * b.step[1],
                  b.first[2] + t * b.step[2]};
    const Lanes inverse = 1.0 / root(dot(p, p));
    const Three d{p.x * inverse, p.y * inverse, p.z * inverse};
    store(to.d[0] + i, d.x);
    store(to.d[1] + i, d.y);
    store(to.d[2] + i, d.z);
    for (std::int64_t e = 0; e < b.extents; ++e) {
      const double *v = b.half[e];
      const Lanes along = d.x * v[0] + d.y * v[1] + d.z * v[2];
      store(to.extent[e][0] + i, (v[0] - along * d.x) * inverse);
      store(to.extent[e][1] + i, (v[1] - along * d.y) * inverse);
      store(to.extent[e][2] + i, (v[2] - along * d.z) * inverse);
    }
    // The second derivative of a direction along a line is at most sqrt(4/3) times the square of
    // the step over the distance.
    const Lanes angle = b.halfDiagonal * inverse, left = 1.0 - angle;
    Lanes bend = 0.6 * angle * angle / (left * left);
    bend.v = angle.v < 0.5 ? bend.v : angle.v + 2.0;
    store(to.bend + i, bend);
    store(to.size + i, angle + bend);
  }
}

NB_VECTORIZED double countAveraged(const AveragedBeam &b, const Places &places,
                                   std::int64_t count) {
  double sum = 0;
  for (std::int64_t place = 0; place < count; place += lanes) {
    Spots s;
    findSpots(b, places, place, count, s);
    sum += sumOf(s.count);
  }
  return sum;
}

// The wider the steps are, the more they decide where a plane is to lie between the reflection and
// the spot: its normal is that of an ellipsoid that has most of both.
NB_VECTORIZED std::int64_t findAveraged(const AveragedBeam &b, std::int32_t number,
                                        const Places &places, std::int64_t place,
                                        std::int64_t count, AveragedHits &into,
                                        std::int64_t &needed) {
  constexpr double shareOfSteps = 3;
  const auto mostH = std::int64_t(b.most[0]), mostK = std::int64_t(b.most[1]),
             mostL = std::int64_t(b.most[2]);
  AveragedHit *hits = into.hits;
  std::int64_t size = into.size;
  for (; place < count; place += lanes) {
    Spots s;
    findSpots(b, places, place, count, s);
    const double windows = sumOf(s.count);
    if (windows == 0)
      continue;
    if (double(size) + windows > double(into.room)) {
      needed = std::int64_t(windows);
      break;
    }
    const Three d{load(places.d[0] + place), load(places.d[1] + place), load(places.d[2] + place)};
    const Symmetric metric{b.metric[0], b.metric[1], b.metric[2],
                           b.metric[3], b.metric[4], b.metric[5]};
    const Lanes ball2 = s.ball * s.ball;
    Symmetric around = s.covariance;
    around.xx += ball2 * metric.xx, around.yy += ball2 * metric.yy, around.zz += ball2 * metric.zz;
    around.xy += ball2 * metric.xy, around.xz += ball2 * metric.xz, around.yz += ball2 * metric.yz;
    for (const Three &step : s.steps)
      addSquare(around, step, shareOfSteps);
    for (std::int64_t i = 0; i < b.boxes; ++i)
      addSquare(around, at(b.varied[b.normals + i], d), 0.25 * shareOfSteps);
    const Symmetric toPlane = adjoint(around);
    const double rounds = largest(s.count);
    Three n{s.window[0].low, s.window[1].low, s.window[2].low};
    for (double round = 0; round < rounds; ++round) {
      const Three x{s.h.x - n.x, s.h.y - n.y, s.h.z - n.z};
      const Three w = times(toPlane, x);
      Lanes away = dot(w, x) - s.ball * root(dot(w, times(metric, w)));
      for (int i = 0; i < mostExtents; ++i)
        away -= absolute(dot(w, s.steps[i]));
      for (std::int64_t i = 0; i < b.boxes; ++i)
        away -= 0.5 * absolute(dot(w, at(b.varied[b.normals + i], d)));
      const Lanes reach2 = dot(w, times(s.covariance, w));
      const Flags near = (away.v <= 0.0) | (away.v * away.v <= reach2.v);
      const Flags kept = near & (s.count.v > round);
      unsigned lit = __builtin_bit_cast(std::uint8_t, __builtin_convertvector(kept != 0, Bits));
      if (lit) {
        // There may be more reflections than a double can number.
        const Integers h = __builtin_convertvector(n.x.v, Integers),
                       k = __builtin_convertvector(n.y.v, Integers),
                       l = __builtin_convertvector(n.z.v, Integers);
        const Integers row = (h + mostH) * (2 * mostK + 1) + k + mostK;
        const Integers reflection = row * (2 * mostL + 1) + l + mostL;
        for (; lit; lit &= lit - 1) {
          const int lane = __builtin_ctz(lit);
          hits[size++] = {places.block[place + lane], number, reflection[lane]};
        }
      }
      n.z += 1.0;
      const Flags endOfRow = n.z.v > s.window[2].high.v;
      n.z.v = endOfRow ? s.window[2].low.v : n.z.v;
      n.y.v = endOfRow ? n.y.v + 1.0 : n.y.v;
      const Flags endOfPlane = n.y.v > s.window[1].high.v;
      n.y.v = endOfPlane ? s.window[1].low.v : n.y.v;
      n.x.v = endOfPlane ? n.x.v + 1.0 : n.x.v;
    }
  }
  into.size = size;
  return place;
}

} // namespace nanobragg::loops
