// The loops in which the time goes that it takes to find what is lit: plain arrays in, plain arrays
// out, compiled for several processors.
#ifndef NANOBRAGG_RUNTIME_REACHLOOPS_H
#define NANOBRAGG_RUNTIME_REACHLOOPS_H

#include <cstdint>

namespace nanobragg::loops {

/// Rows of reflections n + t step for whole t, from row to row `next` further, near a sphere about
/// the origin.
struct Rows {
  double first[3], next[3], step[3];
  double inner, outer; ///< radii of the shell; an inner one <= 0 is a ball
  double least, most;  ///< bounds of t
};
/// Of each row, the two ranges of t inside the shell, inclusive; a range may be empty.
void findRanges(const Rows &rows, std::int64_t count, double *low1, double *high1, double *low2,
                double *high2);

/// A panel at one depth: View of Reach.h, and its pixels.
struct Panel {
  double fast[3], slow[3], forward[3];
  double perPixel; ///< 1 / size of a pixel
  double margin;   ///< in pixels: points of pixel i lie from i + margin to i + 1 - margin
  double fastFirst, fastLast, slowFirst, slowLast; ///< pixels that are of interest
};

/// The pixels on which balls about the points x have light; none: last < first.
struct Pixels {
  std::int32_t *fastFirst, *fastLast, *slowFirst, *slowLast;
};
void spotsOfBalls(const Panel &panel, const double *x, const double *y, const double *z,
                  const double *radius, std::int64_t count, Pixels spots);

/// One beam and one basis: the ellipsoids B u, |u| <= 1, about k + B n.
struct Shell {
  double k[3], ellipsoid[9]; ///< column by column
  double radius;             ///< of the sphere of Ewald
  double halfAxis;           ///< the longest of the ellipsoid
};
/// Whether the ellipsoid about reduced index n may reach the sphere: never no where it does.
void findNear(const Shell &shell, const double *x, const double *y, const double *z,
              std::int64_t count, unsigned char *near);
/// The pixels on which the ellipsoids about reduced indices n have light.
void spotsOfEllipsoids(const Shell &shell, const Panel &panel, const double *x, const double *y,
                       const double *z, std::int64_t count, Pixels spots);

} // namespace nanobragg::loops
#endif
