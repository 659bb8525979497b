#include "runtime/processor/ReachLoops.h"

#include "lib/Parallel/Vectorized.h"

#include <cmath>

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

/// The pixels with points between two coordinates, in pixels.
NB_INLINE Interval pixelsIn(Interval at, double margin, double first, double last) {
  return {larger(std::ceil(at.low + margin - 1), first),
          smaller(std::floor(at.high - margin), last)};
}

/// Behind the crystal there is no panel (`seen` <= 0); where the plane is met at no angle at all,
/// all of it may have light.
NB_INLINE void store(std::int64_t i, Interval fast, Interval slow, bool seen, bool grazing,
                     const Panel &p, Pixels out) {
  // No bound of these is NaN that is used: x and the radius are finite.
  const bool none = !seen || fast.high < fast.low || slow.high < slow.low;
  out.fastFirst[i] = std::int32_t(grazing ? p.fastFirst : none ? 0 : fast.low);
  out.fastLast[i] = std::int32_t(grazing ? p.fastLast : none ? -1 : fast.high);
  out.slowFirst[i] = std::int32_t(grazing ? p.slowFirst : none ? 0 : slow.low);
  out.slowLast[i] = std::int32_t(grazing ? p.slowLast : none ? -1 : slow.high);
}

} // namespace

NB_VECTORIZED void findRanges(const Rows &r, std::int64_t count, double *low1, double *high1,
                              double *low2, double *high2) {
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
    const double far = std::sqrt(larger(outer2 - off2, 0)) * inverse + room;
    const double near = std::sqrt(larger(inner2 - off2, 0)) * inverse - room;
    const bool hit = outer2 >= off2, whole = !(near > 0);
    const double first = larger(std::ceil(middle - far), r.least);
    const double last = smaller(std::floor(middle + far), r.most);
    const double endOfFirst = std::floor(middle - near);
    const double beginOfSecond = larger(std::ceil(middle + near), endOfFirst + 1);
    low1[i] = hit ? first : 1;
    high1[i] = hit ? (whole ? last : smaller(endOfFirst, r.most)) : 0;
    low2[i] = hit && !whole ? larger(beginOfSecond, r.least) : 1;
    high2[i] = hit && !whole ? last : 0;
  }
}

NB_VECTORIZED void spotsOfBalls(const Panel &p, const double *x, const double *y, const double *z,
                                const double *radius, std::int64_t count, Pixels out) {
  const double f2 = dot(p.fast, p.fast[0], p.fast[1], p.fast[2]);
  const double s2 = dot(p.slow, p.slow[0], p.slow[1], p.slow[2]);
  const double w2 = dot(p.forward, p.forward[0], p.forward[1], p.forward[2]);
  const double fw = dot(p.fast, p.forward[0], p.forward[1], p.forward[2]);
  const double sw = dot(p.slow, p.forward[0], p.forward[1], p.forward[2]);
  const double w = std::sqrt(w2);
  for (std::int64_t i = 0; i < count; ++i) {
    const double ahead = dot(p.forward, x[i], y[i], z[i]), room = radius[i] * w;
    const bool seen = ahead + room > 0, grazing = seen && ahead - room <= 1e-3 * ahead;
    const double inverse = 1 / ahead, scale = radius[i] / (ahead - room) * (1 + rounding);
    // Of a direction x + delta: F - F0 = delta . (fast - F0 forward) / ((x + delta) . forward).
    const double f = dot(p.fast, x[i], y[i], z[i]) * inverse;
    const double s = dot(p.slow, x[i], y[i], z[i]) * inverse;
    const double halfF =
        scale * std::sqrt(larger(f2 - 2 * f * fw + f * f * w2, 0) + rounding * (f2 + f * f * w2));
    const double halfS =
        scale * std::sqrt(larger(s2 - 2 * s * sw + s * s * w2, 0) + rounding * (s2 + s * s * w2));
    const Interval fast = pixelsIn({(f - halfF) * p.perPixel, (f + halfF) * p.perPixel}, p.margin,
                                   p.fastFirst, p.fastLast);
    const Interval slow = pixelsIn({(s - halfS) * p.perPixel, (s + halfS) * p.perPixel}, p.margin,
                                   p.slowFirst, p.slowLast);
    store(i, fast, slow, seen, grazing, p, out);
  }
}

// That the ellipsoid about x reaches the sphere of radius R means | |x| - R | <= e + w^2 / R with
// e = |B^T x| / |x| <= w, its half axis towards the origin. With g = |x|^2 - R^2 = (|x| - R) (|x| +
// R) and |x| between R - room and R + room it follows that |g| <= |B^T x| (1 + R / |x|) + w^2 / R
// (|x| + R); and the square of a sum is at most 1.01 and 101 times the squares.
NB_VECTORIZED void findNear(const Shell &s, const double *x, const double *y, const double *z,
                            std::int64_t count, unsigned char *near) {
  const double *e = s.ellipsoid;
  const double w = s.halfAxis, r = s.radius, room = w + w * w / r;
  const double ratio = 1 + r / (r - room), most = w * w / r * (2 * r + room);
  const double scale = 1.01 * ratio * ratio, slack = 101 * most * most, radius2 = r * r;
  for (std::int64_t i = 0; i < count; ++i) {
    const double px = s.k[0] + e[0] * x[i] + e[3] * y[i] + e[6] * z[i];
    const double py = s.k[1] + e[1] * x[i] + e[4] * y[i] + e[7] * z[i];
    const double pz = s.k[2] + e[2] * x[i] + e[5] * y[i] + e[8] * z[i];
    const double va = dot(e, px, py, pz), vb = dot(e + 3, px, py, pz), vc = dot(e + 6, px, py, pz);
    const double g = px * px + py * py + pz * pz - radius2;
    near[i] = g * g <= scale * (va * va + vb * vb + vc * vc) + slack;
  }
}

NB_VECTORIZED void spotsOfEllipsoids(const Shell &s, const Panel &p, const double *x,
                                     const double *y, const double *z, std::int64_t count,
                                     Pixels out) {
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
  const double slack = s.halfAxis * s.halfAxis / s.radius + rounding * s.halfAxis;
  for (std::int64_t i = 0; i < count; ++i) {
    const double px = s.k[0] + e[0] * x[i] + e[3] * y[i] + e[6] * z[i];
    const double py = s.k[1] + e[1] * x[i] + e[4] * y[i] + e[7] * z[i];
    const double pz = s.k[2] + e[2] * x[i] + e[5] * y[i] + e[8] * z[i];
    const double length = std::sqrt(px * px + py * py + pz * pz), unit = 1 / length;
    const double va = dot(e, px, py, pz) * unit, vb = dot(e + 3, px, py, pz) * unit,
                 vc = dot(e + 6, px, py, pz) * unit;
    const double extent2 = va * va + vb * vb + vc * vc, inverse2 = 1 / extent2;
    const double extent = std::sqrt(extent2);
    // A point x + delta on the sphere has u . delta = R - |x| - kappa with 0 <= kappa <= slack, u
    // the unit vector of x.
    const double high = s.radius - length + rounding * extent, low = high - slack;
    const bool reached = low <= extent && high >= -extent;
    const double nearest = larger(larger(low, -high), 0);
    const double left2 = larger(1 - nearest * nearest * inverse2, 0);
    const double middle = (low + high) * 0.5;

    const double ahead = dot(p.forward, px, py, pz), inverse = 1 / ahead;
    const bool seen = reached && ahead + room > 0, grazing = seen && ahead - room <= 1e-3 * ahead;
    const double least = 1 / (ahead - room), most = 1 / (ahead + room);
    const double wu = dot(vw, va, vb, vc);
    // Of m = axis - at * forward, for each axis: m . delta, then divided by forward . (x + delta).
    const auto range = [&](double at, double mm, double mu,
                           double size) __attribute__((always_inline)) {
      const double along = mu * inverse2;
      const double across2 = larger(mm - along * mu, 0) + rounding * size;
      const double half =
          std::sqrt(left2 * across2) + slack * std::fabs(along) + rounding * std::sqrt(size);
      const double below = middle * along - half, above = middle * along + half;
      return Interval{at + below * (below < 0 ? least : most),
                      at + above * (above < 0 ? most : least)};
    };
    const double f = dot(p.fast, px, py, pz) * inverse, g = dot(p.slow, px, py, pz) * inverse;
    Interval fast =
        range(f, ff - 2 * f * fw + f * f * ww, dot(vf, va, vb, vc) - f * wu, ff + f * f * ww);
    Interval slow =
        range(g, ss - 2 * g * sw + g * g * ww, dot(vs, va, vb, vc) - g * wu, ss + g * g * ww);
    fast = pixelsIn({fast.low * p.perPixel, fast.high * p.perPixel}, p.margin, p.fastFirst,
                    p.fastLast);
    slow = pixelsIn({slow.low * p.perPixel, slow.high * p.perPixel}, p.margin, p.slowFirst,
                    p.slowLast);
    store(i, fast, slow, seen, grazing, p, out);
  }
}

} // namespace nanobragg::loops
