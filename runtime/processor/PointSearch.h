// Which orientations light a block of pixels, found by a look at each of its samples.
//
// For factors that are small off their reflections, but not in a small space about each: those of
// square crystals. And where pixels stand anywhere, so that a reflection's spot cannot be followed
// to them.
#ifndef NANOBRAGG_RUNTIME_POINTSEARCH_H
#define NANOBRAGG_RUNTIME_POINTSEARCH_H

#include "nanobragg/KernelABI.h"
#include "runtime/processor/PointLoops.h"
#include "runtime/processor/Vector.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

struct IncidentBeam {
  Vector k;      ///< direction over wavelength, 1/m
  double radius; ///< radius of the sphere of Ewald, 1 / wavelength
};

/// Directions of the samples of a row of pixels, less PointSearch::common.
struct Directions {
  std::vector<float> x, y, z; ///< kind by kind, `stride` pixels each
  std::int64_t kinds = 0, stride = 0;
  double longest = 0; ///< the longest of all
};

class PointSearch {
public:
  /// `direct` has nine numbers for each basis.
  PointSearch(const nb_reach_numbers &number, std::span<const IncidentBeam> beams,
              std::span<const double> direct);

  Vector common; ///< is taken off all directions, so that single precision goes further

  /// The numbers that decide for directions up to `longest`.
  struct Test {
    bool possible = false; ///< else rounding is as large as what is looked for
    loops::Envelope envelope{};
    loops::Form form{};
  };
  Test testFor(double longest) const;

  /// Sets bits for the orientations that light points of a row: in an order of their own, which
  /// sortBits puts right.
  void findLit(const Test &test, const loops::Points &points, const loops::BlockBits &bits) const;
  /// Adds the bits of a block to `words`, in the order of orientations, beam by beam.
  void sortBits(std::span<const std::uint64_t> bits, std::uint64_t *words) const;

private:
  /// The largest error of each component of a Miller index in single precision.
  std::array<double, 3> errorsOf(double longest) const;

  bool grating = false, fringes = false;
  double bound = 0;              ///< a grating's: the product of its factors
  std::array<double, 3> cells{}; ///< a grating's
  std::array<double, 6> form{};
  std::array<double, 3> longestAxis{}, largestOffset{}; ///< for h, k and l in any lattice
  struct Orientation {
    std::array<double, 12> number; ///< nine of the axes, three of the offset
    std::uint32_t index;
  };
  static void sortIntoClusters(std::span<Orientation> all);
  void addCluster(std::span<const Orientation> alike);
  std::vector<loops::Cluster> clusters;
  std::vector<std::uint32_t> orientationOf; ///< for each bit
};

} // namespace nanobragg
#endif
