// Which reflections reach which places, where a term is an average in closed form: plain arrays in,
// plain arrays out, compiled for several processors. AveragedSearch.h says what is looked for.
#ifndef NANOBRAGG_RUNTIME_AVERAGEDLOOPS_H
#define NANOBRAGG_RUNTIME_AVERAGEDLOOPS_H

#include <cstdint>

namespace nanobragg::loops {

constexpr std::int64_t placesAtOnce = 8;

/// Sets of directions: d + sum of t_i extent_i + r for some |t_i| <= 1 and |r| <= bend, all of them
/// within `size` of d. Arrays go on to whole multiples of placesAtOnce.
struct Places {
  double *d[3], *extent[3][3], *bend, *size;
  std::int32_t *block; ///< the block that each place is of
  std::int64_t extents = 3;
};

/// A row of equal parallelepipeds about first + i step: `half` are half their edges.
struct Boxes {
  double first[3], step[3], half[3][3];
  double halfDiagonal; ///< no point is farther from the middle
  std::int64_t extents;
};
/// Directions in which they are seen.
void findPlaces(const Boxes &boxes, std::int64_t count, const Places &places);

/// A vector that is linear in the direction d of one beam is matrix d + offset; the matrix stands
/// row by row.
struct Linear {
  double matrix[9], offset[3];
};
struct AveragedBeam {
  Linear index;         ///< h
  const Linear *varied; ///< its derivatives, those by normal variables first
  std::int64_t normals, boxes;
  /// A reflection n is listed where w . (h - n) <= sqrt(w^T covariance w) + sum |w . step| + ball
  /// |direct^T w| for all w. With J of the normal variables, covariance = own + bound2 sum J J^T.
  double own[6], bound2; ///< xx, yy, zz, xy, xz, yz
  double metric[6];      ///< direct direct^T
  double longest[3];     ///< roots of its diagonal
  /// ball = perBend bend + perSize size + perChange |d - k| + always, in 1/m.
  double k[3], perBend, perSize, perChange, always;
  double most[3]; ///< bounds of |h|, |k| and |l|
};

/// A reflection that may reach a block.
struct AveragedHit {
  std::int32_t block, beam;
  std::int64_t reflection;
};
struct AveragedHits {
  AveragedHit *hits;
  std::int64_t size, room;
};
/// Appends the reflections of the places from `place` on, up to `count` or until there is no room
/// for those of the next ones: they need `needed`. Returns where it stopped.
std::int64_t findAveraged(const AveragedBeam &beam, std::int32_t number, const Places &places,
                          std::int64_t place, std::int64_t count, AveragedHits &hits,
                          std::int64_t &needed);

/// How many reflections would be looked at.
double countAveraged(const AveragedBeam &beam, const Places &places, std::int64_t count);

} // namespace nanobragg::loops
#endif
