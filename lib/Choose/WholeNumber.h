// Numbers of cells, sub-pixels, steps and pixels out of a ratio of two lengths or angles.
#ifndef NANOBRAGG_CHOOSE_WHOLENUMBER_H
#define NANOBRAGG_CHOOSE_WHOLENUMBER_H

#include "lib/Experiment/ProgramVariant.h"

#include <cmath>
#include <limits>

namespace nanobragg {

/// How far a ratio may be from a whole number, relative to it, and still be meant for that number.
/// A ratio goes through at most some 40 roundings (a cell edge through cell, orientation and units,
/// a reciprocal pixel size through the detector's rotations), each off by half an epsilon.
inline constexpr double ratioSlack = 64 * std::numeric_limits<double>::epsilon();

/// The smallest whole number that is not below the ratio. Rule::C takes the ratio as it was
/// rounded, which turns 0.001 mm over 100 A into 100 or 101 cells as the orientation has it;
/// Rule::Right takes a ratio within its rounding of a whole number for that number.
inline double roundedUp(double ratio, Rule rule) {
  const double nearest = std::rint(ratio);
  if (rule == Rule::Right && std::fabs(ratio - nearest) <= ratioSlack * std::fabs(ratio))
    return nearest;
  return std::ceil(ratio);
}

} // namespace nanobragg
#endif
