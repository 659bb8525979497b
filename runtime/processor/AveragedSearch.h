// Which reflections reach a block of pixels, where a term is an average in closed form.
//
// The spot of a reflection is wide then, of all spreads together, so it is looked for from the
// pixels: a block is a small set of directions, the index h is linear in them, and a reflection n
// reaches the block if h - n lies in the sum of an ellipsoid (normal variables and the crystal's
// size) and a parallelepiped (the block and uniform variables). docs/rationale/culling-bounds.md
// has the bounds.
#ifndef NANOBRAGG_RUNTIME_AVERAGEDSEARCH_H
#define NANOBRAGG_RUNTIME_AVERAGEDSEARCH_H

#include "nanobragg/KernelABI.h"
#include "runtime/processor/AveragedLoops.h"
#include "runtime/processor/Vector.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

/// Memory for some places.
class PlaceMemory {
public:
  /// Room for at most so many, and none yet.
  void begin(std::int64_t most, std::int64_t extents);
  loops::Places arrays{};
  std::int64_t count = 0;

private:
  std::vector<double> numbers;
  std::vector<std::int32_t> blocks;
};

/// Memory for what is found.
struct FoundReflections {
  std::vector<loops::AveragedHit> memory;
  std::size_t size = 0;
  void add(const loops::AveragedHit &hit) {
    if (size == memory.size())
      memory.resize(2 * size + 1024);
    memory[size++] = hit;
  }
  std::span<const loops::AveragedHit> all() const { return std::span(memory).first(size); }
};

class AveragedSearch {
public:
  /// Tables as nb_reach_tables has them. Throws std::runtime_error where they give no bound.
  struct Tables {
    const double *direct, *incident, *wavelength;
    const double *variedDirect, *variedIncident, *variedWavelength;
  };
  AveragedSearch(const nb_reach_numbers &number, const Tables &tables);

  /// How many reflections have to be looked at for the places, for beam `beam`.
  double windows(std::int64_t beam, const PlaceMemory &places) const;
  /// Appends what reaches them: of each place in the order of reflections.
  void find(std::int64_t beam, const PlaceMemory &places, FoundReflections &found) const;

  /// How fast an index can move with the direction, for any beam.
  double longestAxis = 0;

  [[noreturn]] static void refuse();

private:
  std::vector<loops::Linear> varied; ///< for each beam and variable
  std::vector<loops::AveragedBeam> beams;
};

} // namespace nanobragg
#endif
