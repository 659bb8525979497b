// Which of many lattices have light at which points, one sample after the other: plain arrays in,
// plain numbers out, compiled for several processors.
#ifndef NANOBRAGG_RUNTIME_POINTLOOPS_H
#define NANOBRAGG_RUNTIME_POINTLOOPS_H

#include <cstdint>

namespace nanobragg::loops {

constexpr int latticesAtOnce = 16;

/// A point q has the Miller index h_c = axis[3 c .. 3 c + 2] . q + offset[c].
struct Lattices {
  float axis[9][latticesAtOnce], offset[3][latticesAtOnce];
};

/// Lattices that are alike, and one in their middle: h_c of each is at most axisSpread[c] |q| +
/// offsetSpread[c] away from its h_c.
struct Cluster {
  Lattices lattices;
  float axis[9], offset[3];
  float axisSpread[3], offsetSpread[3];
};

/// Directions of the points of a row, less one that all have in common. Points `stride` apart
/// belong together: there are `kinds` of them for each pixel. Arrays go on to whole multiples of
/// pixelsAtOnce.
constexpr int pixelsAtOnce = 16;
struct Points {
  const float *x, *y, *z;
  std::int64_t pixels, kinds, stride;
};

/// A sample has light where the product over the axes of max(1, p) is at most `bound`, p = x (first
/// - second x), x the distance of h_c from a whole number. With `fringeBound`, only where that of
/// max(s, p - error) is at most fringeBound times that of s, too: s = |sin(pi cells x)| + error.
struct Envelope {
  float first[3], second[3], cells[3], error[3];
  float bound, fringeBound; ///< fringeBound 0: none
};

/// A sample has light where the form of the distances of h from whole numbers is at most `bound`;
/// these are then at most `extent` along each axis, which is less than 1/2.
struct Form {
  float xx, yy, zz, xy, xz, yz;
  float bound, extent[3];
};

/// Where the bits of a pixel are: from words[wordOf[pixel]] on.
struct BlockBits {
  std::uint64_t *words;
  const std::int32_t *wordOf;
};

/// Sets a bit for each lattice that has light at some of a block's points: bit 16 i + j for lattice
/// j of cluster i.
void findLit(const Cluster *clusters, std::int64_t count, const Envelope &envelope,
             const Points &points, const BlockBits &bits);
void findLit(const Cluster *clusters, std::int64_t count, const Form &form, const Points &points,
             const BlockBits &bits);

/// Where the rows of a flat panel are: the point of pixel i is first + i step, whose direction less
/// `common` goes to x, y and z; pixels behind the last one stand where that does.
struct Row {
  double first[3], step[3], common[3];
  std::int64_t lastPixel;
};
void findDirections(const Row &row, std::int64_t count, float *x, float *y, float *z);

/// The largest of the squared lengths, or more.
float longestSquare(const float *x, const float *y, const float *z, std::int64_t count);

} // namespace nanobragg::loops
#endif
