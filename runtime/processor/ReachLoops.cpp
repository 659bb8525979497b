#include "runtime/processor/ReachLoops.h"

#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace nanobragg::loops {
namespace {

/// Relative errors of rounding on the way, with room to spare.
constexpr double rounding = 1e-9;

NB_INLINE double larger(double a, double b) { return a > b ? a : b; }
NB_INLINE double smaller(double a, double b) { return a < b ? a : b; }
NB_INLINE double dot(const double *a, double x, double y, double z) {
  return a[0] * x + a[1] * y + a[2] * z;
}

struct Interval {
  double low, high;
};

/// Beyond all pixels that there are.
constexpr double far = 1 << 30;

/// The pixels with points between two coordinates, in pixels.
NB_INLINE Interval pixelsIn(Interval at, double margin) {
  return {smaller(larger(std::ceil(at.low + margin - 1), -far), far),
          smaller(larger(std::floor(at.high - margin), -far), far)};
}

/// Behind the crystal there is no panel (`seen` <= 0); where the plane is met at no angle at all,
/// all of it may have light.
NB_INLINE void store(std::int64_t i, Interval fast, Interval slow, bool seen, bool grazing,
                     Pixels out) {
  // No bound of these is NaN that is used: x and the radius are finite.
  out.fastFirst[i] = std::int32_t(grazing ? -far : seen ? fast.low : far);
  out.fastLast[i] = std::int32_t(grazing ? far : seen ? fast.high : -far);
  out.slowFirst[i] = std::int32_t(grazing ? -far : seen ? slow.low : far);
  out.slowLast[i] = std::int32_t(grazing ? far : seen ? slow.high : -far);
}

} // namespace

NB_VECTORIZED void findRanges(const Rows &r, std::int64_t count, double *low1, double *high1,
                              double *low2, double *high2, unsigned char *some) {
  const double step2 = dot(r.step, r.step[0], r.step[1], r.step[2]);
  const double inverse2 = 1 / step2, inverse = std::sqrt(inverse2);
  const double outer2 = r.outer * r.outer, inner2 = r.inner > 0 ? r.inner * r.inner : -1;
  constexpr double room = 1e-6;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = r.first[0] + double(i) * r.next[0], y = r.first[1] + double(i) * r.next[1],
                 z = r.first[2] + double(i) * r.next[2];
    // |foot + t step| = R for t = middle +- sqrt(R^2 - off^2) / |step|.
    const double middle = -dot(r.step, x, y, z) * inverse2;
    const double off2 = larger(x * x + y * y + z * z - middle * middle * step2, 0);
    const double away = std::sqrt(larger(outer2 - off2, 0)) * inverse + room;
    const double near = std::sqrt(larger(inner2 - off2, 0)) * inverse - room;
    const bool hit = outer2 >= off2, whole = !(near > 0);
    const double first = larger(std::ceil(middle - away), r.least);
    const double last = smaller(std::floor(middle + away), r.most);
    const double endOfFirst = std::floor(middle - near);
    const double beginOfSecond = larger(std::ceil(middle + near), endOfFirst + 1);
    const double high = hit ? (whole ? last : smaller(endOfFirst, r.most)) : 0;
    const double low = hit && !whole ? larger(beginOfSecond, r.least) : 1;
    const double end = hit && !whole ? last : 0;
    low1[i] = hit ? first : 1;
    high1[i] = high;
    low2[i] = low;
    high2[i] = end;
    some[i] = (hit & (first <= high)) | (low <= end);
  }
}

NB_VECTORIZED void findBalls(const Balls &b, const std::int32_t *h, const std::int32_t *k,
                             const std::int32_t *l, std::int64_t count, double *x, double *y,
                             double *z, double *radius, unsigned char *kept) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double n0 = h[i], n1 = k[i], n2 = l[i];
    const double qx = b.basis[0] * n0 + b.basis[3] * n1 + b.basis[6] * n2;
    const double qy = b.basis[1] * n0 + b.basis[4] * n1 + b.basis[7] * n2;
    const double qz = b.basis[2] * n0 + b.basis[5] * n1 + b.basis[8] * n2;
    const double px = b.k[0] + qx, py = b.k[1] + qy, pz = b.k[2] + qz;
    const double room = b.halfAxis + b.turn * std::sqrt(qx * qx + qy * qy + qz * qz);
    const double length = std::sqrt(px * px + py * py + pz * pz);
    x[i] = px;
    y[i] = py;
    z[i] = pz;
    radius[i] = room;
    kept[i] = (length <= b.radius + room) & (length >= b.radius - room - room * room / b.radius) &
              (dot(b.axis, px, py, pz) >= b.least * length);
  }
}

namespace {

/// Between -pi/2 and pi/2, to 1e-12.
NB_INLINE double arcTangent(double x) {
  constexpr double pi = std::numbers::pi, ofEighth = std::numbers::sqrt2 - 1; // tan(pi / 8)
  const double size = std::fabs(x);
  const bool steep = size > 1;
  const double t = steep ? 1 / size : size;
  const bool middle = t > ofEighth;
  // atan(t) = pi / 4 + atan((t - 1) / (t + 1)). The rest of the series is below the next term,
  // 0.415^31 / 31.
  const double u = middle ? (t - 1) / (t + 1) : t, u2 = u * u;
  double sum = 0;
  for (int n = 29; n > 0; n -= 2)
    sum = ((n & 3) == 1 ? 1.0 : -1.0) / n + u2 * sum;
  const double ofT = u * sum + (middle ? pi / 4 : 0);
  return std::copysign(steep ? pi / 2 - ofT : ofT, x);
}

/// From the sine of psi and the tangent of theta to pixels: all four functions grow.
NB_INLINE void unbend(const Panel &p, Interval &fast, Interval &slow) {
  constexpr double widest = 0.99999; // the largest sine that is on the panel
  constexpr double slack = 1e-11;    // rad
  const double low = smaller(larger(fast.low, -widest), widest);
  const double high = smaller(larger(fast.high, -widest), widest);
  const double ofLow = 1 / std::sqrt(1 - low * low), ofHigh = 1 / std::sqrt(1 - high * high);
  const double psi0 = arcTangent(low * ofLow), psi1 = arcTangent(high * ofHigh);
  const double theta0 = arcTangent(slow.low), theta1 = arcTangent(slow.high);
  double least = 0, most = 0;
  if (p.along != 0) {
    // The cosine is largest where psi is 0, if that is between.
    const double a = p.along * ofLow, b = p.along * ofHigh;
    const double c = low < 0 && high > 0 ? p.along : a;
    least = arcTangent(smaller(smaller(a, b), c));
    most = arcTangent(larger(larger(a, b), c));
  }
  const double alpha = (psi0 + psi1) * 0.5 - p.tau, alphaRoom = (psi1 - psi0) * 0.5 + slack;
  const double beta = p.kappa * ((least + most) - (theta0 + theta1)) * 0.5;
  const double betaRoom = ((most - least) + (theta1 - theta0)) * 0.5 + slack;
  const auto pixels = [&](const double *to) __attribute__((always_inline)) {
    const double at = to[0] + to[1] * alpha + to[2] * beta;
    const double room = std::fabs(to[1]) * alphaRoom + std::fabs(to[2]) * betaRoom;
    return Interval{at - room, at + room};
  };
  fast = pixels(p.toFast);
  slow = pixels(p.toSlow);
}

template <bool curved>
NB_INLINE void ballSpots(const Panel &p, double sphere, const double *x, const double *y,
                         const double *z, const double *radius, std::int64_t count, Pixels out) {
  const double f2 = dot(p.fast, p.fast[0], p.fast[1], p.fast[2]);
  const double s2 = dot(p.slow, p.slow[0], p.slow[1], p.slow[2]);
  const double w2 = dot(p.forward, p.forward[0], p.forward[1], p.forward[2]);
  const double fw = dot(p.fast, p.forward[0], p.forward[1], p.forward[2]);
  const double sw = dot(p.slow, p.forward[0], p.forward[1], p.forward[2]);
  const double w = std::sqrt(w2), perSphere = 1 / sphere;
  const double sizeF = std::sqrt(f2) * perSphere * (1 + rounding);
  for (std::int64_t i = 0; i < count; ++i) {
    const double ahead = dot(p.forward, x[i], y[i], z[i]), room = radius[i] * w;
    const bool seen = ahead + room > 0, grazing = seen && ahead - room <= 1e-3 * ahead;
    const double inverse = 1 / ahead, scale = radius[i] / (ahead - room) * (1 + rounding);
    // For a direction x + delta: F - F0 = delta . (fast - F0 forward) / ((x + delta) . forward).
    const double s = dot(p.slow, x[i], y[i], z[i]) * inverse;
    const double halfS =
        scale * std::sqrt(larger(s2 - 2 * s * sw + s * s * w2, 0) + rounding * (s2 + s * s * w2));
    Interval fast, slow{s - halfS, s + halfS};
    if constexpr (curved) {
      // Points on the sphere are unit vectors times its radius.
      const double f = dot(p.fast, x[i], y[i], z[i]) * perSphere;
      fast = {f - radius[i] * sizeF, f + radius[i] * sizeF};
      unbend(p, fast, slow);
    } else {
      const double f = dot(p.fast, x[i], y[i], z[i]) * inverse;
      const double halfF =
          scale * std::sqrt(larger(f2 - 2 * f * fw + f * f * w2, 0) + rounding * (f2 + f * f * w2));
      fast = {(f - halfF) * p.perPixel, (f + halfF) * p.perPixel};
      slow = {slow.low * p.perPixel, slow.high * p.perPixel};
    }
    store(i, pixelsIn(fast, p.margin), pixelsIn(slow, p.margin), seen, grazing, out);
  }
}

template <bool curved>
NB_INLINE void ellipsoidSpots(const Shell &s, const Panel &p, const double *x, const double *y,
                              const double *z, std::int64_t count, Pixels out) {
  const double *e = s.ellipsoid;
  // The functionals of the panel, seen from the ellipsoid: B^T f and so on.
  double vf[3], vs[3], vw[3];
  for (int c = 0; c < 3; ++c) {
    vf[c] = dot(e + 3 * c, p.fast[0], p.fast[1], p.fast[2]);
    vs[c] = dot(e + 3 * c, p.slow[0], p.slow[1], p.slow[2]);
    vw[c] = dot(e + 3 * c, p.forward[0], p.forward[1], p.forward[2]);
  }
  const double ff = dot(vf, vf[0], vf[1], vf[2]), ss = dot(vs, vs[0], vs[1], vs[2]);
  const double ww = dot(vw, vw[0], vw[1], vw[2]), fw = dot(vf, vw[0], vw[1], vw[2]);
  const double sw = dot(vs, vw[0], vw[1], vw[2]), room = std::sqrt(ww);
  const double sizeF = std::sqrt(ff), sizeS = std::sqrt(ss);
  const double slack = s.halfAxis * s.halfAxis / s.radius + 2 * rounding * s.halfAxis;
  const double perSphere = 1 / s.radius;
  for (std::int64_t i = 0; i < count; ++i) {
    const double px = s.k[0] + e[0] * x[i] + e[3] * y[i] + e[6] * z[i];
    const double py = s.k[1] + e[1] * x[i] + e[4] * y[i] + e[7] * z[i];
    const double pz = s.k[2] + e[2] * x[i] + e[5] * y[i] + e[8] * z[i];
    // Two divisions and three roots are most of the time: quotients share them.
    const double ta = dot(e, px, py, pz), tb = dot(e + 3, px, py, pz), tc = dot(e + 6, px, py, pz);
    const double length2 = px * px + py * py + pz * pz, reach2 = ta * ta + tb * tb + tc * tc;
    const double ofBoth = 1 / (length2 * reach2), length = std::sqrt(length2);
    const double unit = length * (reach2 * ofBoth);
    const double va = ta * unit, vb = tb * unit, vc = tc * unit;
    const double extent2 = va * va + vb * vb + vc * vc, inverse2 = length2 * (length2 * ofBoth);
    // A point x + delta on the sphere has u . delta = R - |x| - kappa with 0 <= kappa <= slack, u
    // the unit vector of x.
    const double high = s.radius - length + rounding * s.halfAxis, low = high - slack;
    const double nearest = larger(larger(low, -high), 0);
    const bool reached = nearest * nearest <= extent2;
    const double left2 = larger(1 - nearest * nearest * inverse2, 0);
    const double middle = (low + high) * 0.5;

    const double ahead = dot(p.forward, px, py, pz), ofAll = 1 / (ahead * (ahead * ahead - ww));
    const double inverse = ofAll * (ahead * ahead - ww);
    const bool seen = reached && ahead + room > 0, grazing = seen && ahead - room <= 1e-3 * ahead;
    const double least = ofAll * (ahead * (ahead + room)), most = ofAll * (ahead * (ahead - room));
    const double wu = dot(vw, va, vb, vc);
    // Bounds of m . delta for a vector m.
    const auto along = [&](double mm, double mu, double size) __attribute__((always_inline)) {
      const double slope = mu * inverse2;
      const double across2 = larger(mm - slope * mu, 0) + rounding * size * size;
      const double half = std::sqrt(left2 * across2) + slack * std::fabs(slope) + rounding * size;
      return Interval{middle * slope - half, middle * slope + half};
    };
    // For each axis, with m = axis - at * forward: m . delta, divided by forward . (x + delta).
    const auto range = [&](double at, double mm, double mu, double size)
                           __attribute__((always_inline)) {
                             const auto [below, above] = along(mm, mu, size);
                             return Interval{at + below * (below < 0 ? least : most),
                                             at + above * (above < 0 ? most : least)};
                           };
    const double g = dot(p.slow, px, py, pz) * inverse;
    Interval fast, slow = range(g, ss - 2 * g * sw + g * g * ww, dot(vs, va, vb, vc) - g * wu,
                                sizeS + std::fabs(g) * room);
    if constexpr (curved) {
      // Points on the sphere are unit vectors times its radius.
      const double f = dot(p.fast, px, py, pz) * perSphere;
      const auto [below, above] = along(ff, dot(vf, va, vb, vc), sizeF);
      fast = {f + below * perSphere, f + above * perSphere};
      unbend(p, fast, slow);
    } else {
      const double f = dot(p.fast, px, py, pz) * inverse;
      fast = range(f, ff - 2 * f * fw + f * f * ww, dot(vf, va, vb, vc) - f * wu,
                   sizeF + std::fabs(f) * room);
      fast = {fast.low * p.perPixel, fast.high * p.perPixel};
      slow = {slow.low * p.perPixel, slow.high * p.perPixel};
    }
    store(i, pixelsIn(fast, p.margin), pixelsIn(slow, p.margin), seen, grazing, out);
  }
}

} // namespace

NB_VECTORIZED void spotsOfBalls(const Panel &p, double sphere, const double *x, const double *y,
                                const double *z, const double *radius, std::int64_t count,
                                Pixels out) {
  if (p.curved)
    ballSpots<true>(p, sphere, x, y, z, radius, count, out);
  else
    ballSpots<false>(p, sphere, x, y, z, radius, count, out);
}

NB_VECTORIZED void spotsOfEllipsoids(const Shell &s, const Panel &p, const double *x,
                                     const double *y, const double *z, std::int64_t count,
                                     Pixels out) {
  if (p.curved)
    ellipsoidSpots<true>(s, p, x, y, z, count, out);
  else
    ellipsoidSpots<false>(s, p, x, y, z, count, out);
}

// That the ellipsoid about x reaches the sphere of radius R means | |x| - R | <= e + w^2 / R with
// e = |B^T x| / |x| <= w, its half axis towards the origin. With g = |x|^2 - R^2 = (|x| - R) (|x| +
// R) and |x| between R - room and R + room it follows that |g| <= |B^T x| (1 + R / |x|) + w^2 / R
// (|x| + R); and the square of a sum is at most 1.01 and 101 times the squares.
//
// In single precision, in units of R: with S = |k| + the sum of |column of B| times most, and u
// half a unit of the last digit, x is off by 11 u S at most (six roundings of each term along each
// axis). |x|^2 is off by 2 |x| 11 u S + (11 u S)^2 + 4 u (|x|^2 + 1), where |x| is next to 1, and
// B^T x by |B| 15 u S.
NB_VECTORIZED void findNear(const Shell &s, const float *x, const float *y, const float *z,
                            const double *most, std::int64_t count, unsigned char *near) {
  constexpr double u = 0x1p-24;
  const double r = s.radius, inverse = 1 / r, w = s.halfAxis * inverse, room = w + w * w;
  const double ratio = 1 + 1 / (1 - room), rest = w * w * (2 + room);
  float e[9], k[3];
  double size = 0, widest = 0;
  for (int c = 0; c < 3; ++c) {
    const double *column = s.ellipsoid + 3 * c;
    const double length = std::sqrt(dot(column, column[0], column[1], column[2])) * inverse;
    size += length * most[c];
    widest += length;
    k[c] = float(s.k[c] * inverse);
  }
  for (int c = 0; c < 9; ++c)
    e[c] = float(s.ellipsoid[c] * inverse);
  size += std::sqrt(dot(s.k, s.k[0], s.k[1], s.k[2])) * inverse;
  const double longest = 1 + room, off = 11 * u * size;
  const double error = 2 * longest * off + off * off + 4 * u * (longest * longest + 1) +
                       ratio * widest * 15 * u * size;
  constexpr double roundings = 1 + 1e-5;
  const auto scale = float(1.01 * ratio * ratio * roundings);
  const auto slack = float(101 * rest * rest * roundings), allowed = float(error * roundings);
  for (std::int64_t i = 0; i < count; ++i) {
    const float px = k[0] + e[0] * x[i] + e[3] * y[i] + e[6] * z[i];
    const float py = k[1] + e[1] * x[i] + e[4] * y[i] + e[7] * z[i];
    const float pz = k[2] + e[2] * x[i] + e[5] * y[i] + e[8] * z[i];
    const float va = e[0] * px + e[1] * py + e[2] * pz, vb = e[3] * px + e[4] * py + e[5] * pz,
                vc = e[6] * px + e[7] * py + e[8] * pz;
    const float g = std::fabs(px * px + py * py + pz * pz - 1);
    near[i] = g <= std::sqrt(scale * (va * va + vb * vb + vc * vc) + slack) + allowed;
  }
}

NB_VECTORIZED void coverBoth(Pixels spots, const Pixels &others, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    spots.fastFirst[i] = std::min(spots.fastFirst[i], others.fastFirst[i]);
    spots.fastLast[i] = std::max(spots.fastLast[i], others.fastLast[i]);
    spots.slowFirst[i] = std::min(spots.slowFirst[i], others.slowFirst[i]);
    spots.slowLast[i] = std::max(spots.slowLast[i], others.slowLast[i]);
  }
}

NB_VECTORIZED void clipSpots(Pixels spots, const Window &w, std::int64_t count,
                             unsigned char *any) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t f0 = std::max(spots.fastFirst[i], w.fastFirst);
    const std::int32_t f1 = std::min(spots.fastLast[i], w.fastLast);
    const std::int32_t s0 = std::max(spots.slowFirst[i], w.slowFirst);
    const std::int32_t s1 = std::min(spots.slowLast[i], w.slowLast);
    spots.fastFirst[i] = f0;
    spots.fastLast[i] = f1;
    spots.slowFirst[i] = s0;
    spots.slowLast[i] = s1;
    any[i] = (f0 <= f1) & (s0 <= s1);
  }
}

NB_VECTORIZED std::int64_t blocksOfSpots(Pixels spots, const Window &w, const Blocks &blocks,
                                         std::int64_t count, unsigned char *size) {
  std::int64_t pixels = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t f0 = std::max(spots.fastFirst[i], w.fastFirst) - w.fastFirst;
    const std::int32_t f1 = std::min(spots.fastLast[i], w.fastLast) - w.fastFirst;
    const std::int32_t s0 = std::max(spots.slowFirst[i], w.slowFirst) - w.slowFirst;
    const std::int32_t s1 = std::min(spots.slowLast[i], w.slowLast) - w.slowFirst;
    const bool any = (f0 <= f1) & (s0 <= s1);
    pixels += any ? std::int64_t(f1 - f0 + 1) * std::int64_t(s1 - s0 + 1) : 0;
    // Half a pixel away from where rounding would matter.
    const auto column0 = std::int32_t((f0 + 0.5) * blocks.perColumn);
    const auto column1 = std::int32_t((f1 + 0.5) * blocks.perColumn);
    const auto row0 = std::int32_t((s0 + 0.5) * blocks.perRow);
    const auto row1 = std::int32_t((s1 + 0.5) * blocks.perRow);
    spots.fastFirst[i] = column0;
    spots.fastLast[i] = column1;
    spots.slowFirst[i] = row0;
    spots.slowLast[i] = row1;
    const bool isSmall = (row1 - row0 < rowsOfSmall) & (column1 - column0 < columnsOfSmall);
    const bool isMedium = (row1 - row0 < rowsOfMedium) & (column1 - column0 < columnsOfMedium);
    size[i] = static_cast<unsigned char>(any ? (isSmall    ? small
                                                : isMedium ? medium
                                                           : large)
                                             : nothing);
  }
  return pixels;
}

namespace {

/// Bit i: block `block` + i of up to 64 has a bit.
NB_INLINE std::uint64_t blocksWithBits(const Bits &bits, std::int64_t block, std::int64_t end) {
  const std::int64_t count = end - block < 64 ? end - block : 64;
  const std::uint64_t *words = bits.words + block * bits.wordsOfBlock;
  std::uint64_t result = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t some = 0;
    for (std::int64_t word = 0; word != bits.wordsOfBlock; ++word)
      some |= *words++;
    result |= std::uint64_t(some != 0) << i;
  }
  return result;
}

/// Numbers of the bits of a block, from `to` on; the end of them. Bits are taken eight at a time,
/// whether there are as many or not: what comes behind them is written over. A loop that ends at
/// the last bit would be mispredicted each time.
NB_INLINE std::int32_t *writeBits(const std::uint64_t *words, std::int64_t count,
                                  std::int32_t *to) {
  for (std::int64_t word = 0; word != count; ++word) {
    std::uint64_t left = words[word];
    const auto base = std::int32_t(64 * word);
    std::int32_t *at = to;
    do {
      for (int i = 0; i != 8; ++i) {
        at[i] = base + std::int32_t(std::countr_zero(left));
        left &= left - 1;
      }
      at += 8;
    } while (left);
    to += std::popcount(words[word]);
  }
  return to;
}

} // namespace

NB_VECTORIZED std::int64_t listBits(const Bits &bits, std::int64_t block, std::int64_t end,
                                    std::int64_t enough, bool dark, Lists &lists) {
  std::int64_t blocks = lists.blocks, outers = lists.outers, inners = lists.inners;
  std::int64_t row = block / bits.blocksPerRow, endOfRow = (row + 1) * bits.blocksPerRow;
  while (block != end && inners < enough && blocks < enough) {
    // Blocks without a bit are passed over without a branch for each.
    const std::uint64_t filled = blocksWithBits(bits, block, end);
    const std::int64_t last = std::min(end, block + 64);
    std::uint64_t left = dark                ? filled
                         : last - block < 64 ? (std::uint64_t(1) << (last - block)) - 1
                                             : ~std::uint64_t(0);
    std::int64_t behind = last;
    for (; left; left &= left - 1) {
      const std::int64_t at = block + std::countr_zero(left);
      if (inners >= enough || blocks >= enough) {
        behind = at;
        break;
      }
      for (; at >= endOfRow; endOfRow += bits.blocksPerRow)
        ++row;
      lists.slow[blocks] = bits.firstRow + std::int32_t(row) * bits.blockRows;
      lists.fast[blocks] =
          bits.firstColumn + std::int32_t(at - endOfRow + bits.blocksPerRow) * bits.blockColumns;
      lists.outerBegin[blocks++] = std::int32_t(outers);
      if (!(filled >> (at - block) & 1))
        continue;
      std::int32_t *const begin = lists.inner + inners;
      std::int32_t *const next =
          writeBits(bits.words + at * bits.wordsOfBlock, bits.wordsOfBlock, begin);
      if (bits.beams == 1) {
        lists.outer[outers] = 0;
        lists.innerBegin[outers++] = std::int32_t(inners);
      } else {
        std::int32_t endOfBeam = 0;
        for (std::int32_t *orientation = begin; orientation != next; ++orientation) {
          if (*orientation >= endOfBeam) {
            const auto beam = std::int32_t(*orientation / bits.bases);
            endOfBeam = (beam + 1) * std::int32_t(bits.bases);
            lists.outer[outers] = beam;
            lists.innerBegin[outers++] = std::int32_t(inners + (orientation - begin));
          }
          *orientation -= endOfBeam - std::int32_t(bits.bases);
        }
      }
      inners += next - begin;
    }
    block = behind;
  }
  lists.blocks = blocks, lists.outers = outers, lists.inners = inners;
  return block;
}

} // namespace nanobragg::loops
