// The numbers that are moved.
#ifndef NANOBRAGG_GRADCHECK_VARIATIONS_H
#define NANOBRAGG_GRADCHECK_VARIATIONS_H

#include "tools/nb-gradcheck/FiniteDifferences.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nanobragg {

/// A direction in the space of the parameters, that is a derivative to be checked.
struct CheckedDirection {
  std::string name; ///< "cell_a", "beam_direction.y", "F along a random direction"
  std::string unit; ///< unit of a step along it
  double scale = 1; ///< a step by this much is a large one
  std::vector<Direction> numbers;
};

/// A single number is one direction. In parameters with several numbers each is one, or, where
/// there are more than `most`, some of them, chosen by `seed`, and a random direction through all.
std::vector<CheckedDirection> directionsOf(const Simulator &simulator,
                                           std::span<const std::string> parameters,
                                           std::size_t most, std::uint64_t seed);

/// One direction through all parameters, each by a random part of its own scale.
CheckedDirection randomDirection(const Simulator &simulator,
                                 std::span<const std::string> parameters, std::uint64_t seed);

/// Moves the simulator's numbers along a direction.
Variation variationOf(Simulator &simulator, const CheckedDirection &direction);

/// Uniform between -1 and 1, the same on every machine.
std::vector<double> randomNumbers(std::size_t count, std::uint64_t seed);

} // namespace nanobragg
#endif
