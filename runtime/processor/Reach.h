// Where light can fall.
//
// A culled kernel (nb_kernel_descriptor::reach) computes those samples only that the runtime lists.
// A sample has light only near a reflection n: if form(h - n) <= 1 for its fractional Miller index
// h. In reciprocal space that is an ellipsoid about A n; the sphere of Ewald cuts it, and what it
// cuts is seen from the crystal as a small spot. docs/rationale/culling-bounds.md has proofs.
#ifndef NANOBRAGG_RUNTIME_REACH_H
#define NANOBRAGG_RUNTIME_REACH_H

#include "lib/Parallel/ThreadTeam.h"
#include "nanobragg/KernelABI.h"
#include "runtime/processor/AveragedSearch.h"
#include "runtime/processor/CurvedPanel.h"
#include "runtime/processor/PointSearch.h"
#include "runtime/processor/Range.h"
#include "runtime/processor/ReachLoops.h"
#include "runtime/processor/SpotGrid.h"
#include "runtime/processor/Vector.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nanobragg {

/// A reflection that some basis of a group may bring to light on a panel.
struct Candidate {
  std::int32_t h, k, l;
  std::int32_t firstRow, lastRow;
};

/// Candidates of one beam, one group of bases and one panel, by their first rows.
struct Group {
  std::vector<Candidate> candidates;
  std::int32_t mostRows = 0; ///< in any of them
};

/// The reach that a kernel describes by nb_reach_tables, and the candidates that follow from it.
class Reach {
public:
  /// After prepare. The team looks for candidates.
  Reach(const nb_kernel_descriptor &kernel, const void *const *arguments, const void *workspace,
        ThreadTeam &team);

  /// No bound could be had from these numbers: everything is lit.
  bool everything = false;

  std::int64_t panels = 0, slowPixels = 0, fastPixels = 0, beams = 0, bases = 0, groupSize = 1;
  std::int64_t blockColumns = 1, blockRows = 1; ///< extents of a block of pixels
  std::int64_t pixelsOfBlock() const { return blockColumns * blockRows; }
  Range fast, slow;           ///< the region of interest, inside the image
  bool dark = false;          ///< pixels without light are zero
  double samplesPerPixel = 1; ///< for one beam and one basis
  double pairsOfBlock = 1;    ///< pairs of beam and basis that may have to be listed

  std::vector<IncidentBeam> beam;
  /// The ellipsoid of light about a reflection, for each basis: B y with |y| <= 1; A n is B L n.
  std::vector<Matrix> ellipsoid;
  std::array<double, 9> reduce{}; ///< L, row by row
  double halfAxis = 0;            ///< the longest of any ellipsoid, 1/m

  std::int64_t groups() const { return (bases + groupSize - 1) / groupSize; }
  const Group &group(std::int64_t panel, std::int64_t beam, std::int64_t group) const {
    return found[std::size_t((panel * beams + beam) * groups() + group)];
  }
  Vector reduced(const Candidate &c) const {
    const double h = c.h, k = c.k, l = c.l;
    return {reduce[0] * h + reduce[1] * k + reduce[2] * l,
            reduce[3] * h + reduce[4] * k + reduce[5] * l,
            reduce[6] * h + reduce[7] * k + reduce[8] * l};
  }

  /// The panel at the least and at the largest depth, which is the same where there is but one. A
  /// direction d meets it at F = (fast . d) / (forward . d), S = (slow . d) / (forward . d), where
  /// forward . d > 0; and between them along a ray F and S are linear in the depth. Curved ones are
  /// as CurvedPanel says.
  const loops::Panel &panel(std::int64_t number, int end) const {
    return seen[std::size_t(end)][std::size_t(number)];
  }
  bool hasDepth = false;

  /// Samples are looked at one by one, instead of spots of reflections.
  std::optional<PointSearch> points;
  /// Directions of the samples of pixels `columns` of a row, less points->common.
  void directionsOf(std::int64_t panel, std::int64_t row, Range columns, Directions &into) const;

  /// Terms are averages: reflections are looked for, one block after the other.
  std::optional<AveragedSearch> averages;
  /// Places of some blocks, which have these rows of pixels; counted from the first of them.
  void placesOf(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const;

  /// For each panel its spots in the region of interest, by their first rows.
  std::vector<std::vector<LitSpot>> litSpots;
  std::int64_t tallestSpot = 0; ///< rows
  /// The same of listed pixels; empty where the image is not a list.
  std::vector<SpotGrid> spotGrids;
  /// The spots that may light some neighbours of a row of listed pixels, which is of one panel.
  template <typename Add>
  void forEachSpotOf(std::int64_t row, Range columns, Add &&add) const {
    const double *const first = listed + 3 * (row * fastPixels + columns.first);
    PixelBox box{{std::int64_t(first[0]), std::int64_t(first[0])},
                 {std::int64_t(first[1]), std::int64_t(first[1])}};
    for (std::int64_t i = 1; i <= columns.last - columns.first; ++i)
      extend(box, first + 3 * i);
    spotGrids[std::size_t(first[2])].forEach(box, add);
  }

private:
  void readSpots(const double *place, const double *extent);
  static void extend(PixelBox &box, const double *pixel);
  const double *listed = nullptr; ///< fast, slow and panel of each listed pixel
  void placesOfFlat(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const;
  void placesOfCurved(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const;
  void placesOfTable(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const;
  void sampleAverages();
  bool readEllipsoids(const nb_reach_numbers &number, std::span<const double> direct);
  bool readViews();
  /// For some bases: the mean one, the rows of its inverse, how far the others move a point that it
  /// has at distance 1, and how far from the origin it has what they have at distance 1, at most.
  struct Spread {
    Matrix center;
    std::array<Vector, 3> axes;
    double turn = 0, stretch = 0;
  };
  Spread spreadOf(std::int64_t first, std::int64_t last) const;
  /// How far from the sphere of Ewald the mean basis may have a reflection with light.
  double widestOf(const IncidentBeam &beam, const Spread &spread) const;
  void splitWideGroups();
  void findCandidates(std::int64_t beam, std::int64_t group);
  /// Reflections near the sphere, and memory for what is asked of them.
  struct Search {
    loops::Balls lattice;
    std::size_t group;
    std::size_t size = 0;                             ///< how many there are
    std::array<std::vector<std::int32_t>, 3> index{}; ///< h, k and l
    std::array<std::vector<double>, 4> balls{};       ///< x, y, z and radius
    std::vector<unsigned char> kept{};
    std::array<std::vector<std::int32_t>, 8> spots{};
  };
  void addSpots(Search &search);
  struct Cone {
    Vector axis;
    double angle = 4; ///< rad; more than pi: all directions
  };
  Cone coneOf() const;
  Cone cone;

  double pixelSize = 0; ///< m
  std::int64_t oversample = 1;
  std::vector<double> depths; ///< m
  struct FlatPanel {
    Vector origin, fast, slow, normal;
  };
  std::vector<FlatPanel> flat;
  std::vector<CurvedPanel> curved;
  CurvedPanel::Part curvedPart() const; ///< the region of interest
  const double *direction = nullptr;    ///< for each pixel and sample, in the workspace; or panels
  std::int64_t perPixel = 0;            ///< directions
  std::array<std::vector<loops::Panel>, 2> seen;
  std::atomic<bool> hopeless{false}; ///< indices are too large
  std::vector<Matrix> reciprocal;    ///< for each basis
  std::vector<Group> found;
};

} // namespace nanobragg
#endif
