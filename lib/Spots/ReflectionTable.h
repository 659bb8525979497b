// Reflection tables of DIALS, .refl.
#ifndef NANOBRAGG_SPOTS_REFLECTIONTABLE_H
#define NANOBRAGG_SPOTS_REFLECTIONTABLE_H

#include "lib/Files/OutputFile.h"
#include "lib/Spots/Spot.h"

#include <span>
#include <string>
#include <vector>

namespace nanobragg {

/// A reflection with all images that have light of it.
struct TableRow {
  Spot spot;
  std::int32_t experiment = 0; ///< its place in the experiment list
  double z = 0;                ///< images from the scan's beginning, counted from 0; 0 of a still
  Vec3 step{};     ///< a pixel along fast and slow, mm, and the rotation of an image, rad
  Vec3 observed{}; ///< centroid of its photons: pixels, and images as z has them
  std::array<std::int64_t, 2> images{}; ///< from, to; the end is not part of it
  bool seen = true;                     ///< on an image, not predicted alone
};

/// A column of numbers beside those of all tables.
struct TableColumn {
  std::string name;
  std::vector<double> values; ///< one for each row
  bool isTruth = false;       ///< they are 0 or 1
};

/// Columns, in DIALS' units (mm, pixels, rad): id, miller_index, panel, flags (predicted, observed,
/// indexed; or predicted alone), entering, s1, xyzcal.mm, xyzcal.px, the centroids xyzobs with
/// variances of a pixel, delpsical.rad, bbox, intensity.sum.value and .variance. A msgpack.
void writeReflectionTable(io::OutputFile &out, std::span<const TableRow> rows,
                          std::span<const TableColumn> more = {});

/// laue-dials' column `harmonics`: whether a row has light, and so have other orders of its ray.
TableColumn harmonicsOf(std::span<const TableRow> rows);

} // namespace nanobragg
#endif
