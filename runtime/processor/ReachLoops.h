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
/// The two ranges of t of each row inside the shell, inclusive; a range may be empty. `some` is 1
/// where one is not, else 0.
void findRanges(const Rows &rows, std::int64_t count, double *low1, double *high1, double *low2,
                double *high2, unsigned char *some);

/// A panel at one depth, as Reach::panel has it, and its pixels.
struct Panel {
  double fast[3], slow[3], forward[3];
  double perPixel; ///< 1 / size of a pixel
  double margin;   ///< in pixels: points of pixel i lie from i + margin to i + 1 - margin

  /// CurvedPanel: fast . d is sin(psi) for a unit vector d, (slow . d) / (forward . d) is
  /// tan(theta), and the coordinates in pixels are toFast[0] + toFast[1] alpha + toFast[2] beta and
  /// so on, alpha = psi - tau, beta = kappa (atan(along / cos(psi)) - theta).
  bool curved;
  double tau, kappa, along;
  double toFast[3], toSlow[3];
};

/// The pixels with light of each of many, whether there are such pixels or not. None: last < first,
/// and then not only 0 and -1: the ends of several depths have all depths between them.
struct Pixels {
  std::int32_t *fastFirst, *fastLast, *slowFirst, *slowLast;
};
/// Pixels from first to last, of which a spot is looked at.
struct Window {
  std::int32_t fastFirst, fastLast, slowFirst, slowLast;
};
/// Where the candidates n of a group are: balls about k + A n, A the mean basis, that have all
/// ellipsoids of the group in them.
struct Balls {
  double k[3], basis[9]; ///< column by column
  double radius;         ///< radius of the sphere of Ewald
  double halfAxis, turn; ///< a ball's radius is halfAxis + turn |A n|
  double axis[3], least; ///< a cone: only directions of at least this cosine
};
/// Centre and radius of the balls; `kept` 1 where they meet the sphere inside the cone, else 0.
void findBalls(const Balls &balls, const std::int32_t *h, const std::int32_t *k,
               const std::int32_t *l, std::int64_t count, double *x, double *y, double *z,
               double *radius, unsigned char *kept);

/// The pixels on which balls about the points x have light, `sphere` the radius of Ewald's.
void spotsOfBalls(const Panel &panel, double sphere, const double *x, const double *y,
                  const double *z, const double *radius, std::int64_t count, Pixels spots);

/// One beam and one basis: the ellipsoids B u, |u| <= 1, about k + B n.
struct Shell {
  double k[3], ellipsoid[9]; ///< column by column
  double radius;             ///< radius of the sphere of Ewald
  double halfAxis;           ///< the longest of the ellipsoid
};
/// Whether the ellipsoid about reduced index n may reach the sphere: never no where it does. In
/// single precision; `most` is the largest size of any x, y and z.
void findNear(const Shell &shell, const float *x, const float *y, const float *z,
              const double *most, std::int64_t count, unsigned char *near);
/// The pixels on which the ellipsoids about reduced indices n have light.
void spotsOfEllipsoids(const Shell &shell, const Panel &panel, const double *x, const double *y,
                       const double *z, std::int64_t count, Pixels spots);

/// Takes the boxes around both spots, which have what is between them.
void coverBoth(Pixels spots, const Pixels &others, std::int64_t count);
/// Leaves the spots that are inside the window; `any` is 1 where there is one, else 0.
void clipSpots(Pixels spots, const Window &window, std::int64_t count, unsigned char *any);

/// Blocks of pixels, counted from the window's first pixel.
struct Blocks {
  double perColumn, perRow; ///< 1 / the columns and rows of a block
};
/// How many blocks a spot touches.
enum SpotSize : unsigned char { nothing, small, medium, large };
constexpr int rowsOfSmall = 2, columnsOfSmall = 2, rowsOfMedium = 4, columnsOfMedium = 3;
/// Takes the blocks that are touched inside the window in place of the pixels. Returns how many
/// pixels there are inside.
std::int64_t blocksOfSpots(Pixels spots, const Window &window, const Blocks &blocks,
                           std::int64_t count, unsigned char *size);

/// Bits of a row of blocks after the other.
struct Bits {
  const std::uint64_t *words;
  std::int64_t wordsOfBlock;
  std::int64_t blocksPerRow, beams, bases; ///< bit beam * bases + basis
  std::int32_t firstRow, firstColumn, blockRows, blockColumns;
};
/// Room for the lists of nb_lit, and how far they are filled.
struct Lists {
  std::int32_t *slow, *fast, *outerBegin, *outer, *innerBegin, *inner;
  std::int64_t blocks, outers, inners;
};
/// The room that a list needs behind `inners` of the block at hand.
constexpr std::int64_t roomBehind = 8;
/// Appends blocks from `block` on until the lists are as long as `enough` or `end` is reached,
/// where it returns; those without a bit, too, unless `dark`.
std::int64_t listBits(const Bits &bits, std::int64_t block, std::int64_t end, std::int64_t enough,
                      bool dark, Lists &lists);

} // namespace nanobragg::loops
#endif
