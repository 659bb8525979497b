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

/// Directions of points, less one that all have in common. Points `stride` apart belong together:
/// there are `kinds` of them for each pixel.
struct Points {
  const float *x, *y, *z;
  std::int64_t pixels, kinds, stride;
};

/// A sample has light where the product over the axes of max(1, x (first - second x)) is at most
/// `bound`, x the distance of h_c from a whole number.
struct Envelope {
  float first[3], second[3];
  float bound;
};

/// A sample has light where the form of the distances of h from whole numbers is at most `bound`.
struct Form {
  float xx, yy, zz, xy, xz, yz;
  float bound;
};

/// Sets a bit for each lattice that has light at some of the points; bits of `count` times
/// latticesAtOnce of them.
void findLit(const Lattices *lattices, std::int64_t count, const Envelope &envelope,
             const Points &points, std::uint64_t *words);
void findLit(const Lattices *lattices, std::int64_t count, const Form &form, const Points &points,
             std::uint64_t *words);

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
