// Reasons why the derivative with respect to a parameter is zero, of which rows of the parameter
// table name some.
#ifndef NANOBRAGG_PROGRAM_DEADCONDITIONS_H
#define NANOBRAGG_PROGRAM_DEADCONDITIONS_H

namespace nanobragg {

struct Experiment;

/// It can be told without computing anything.
struct DeadCondition {
  bool (*holds)(const Experiment &);
  const char *why;
};

namespace dead {
/// There are neither reflections nor a background, which needs none.
extern const DeadCondition noImage;
/// The same for what the image is a function of even then.
extern const DeadCondition squareOfZero;
/// For the grid where the kernel takes the values of others.
extern const DeadCondition factorsByEnergy;
/// For what moves the reflections: the image of a tophat changes only where a spot's edge is.
extern const DeadCondition flatSpots;
extern const DeadCondition noRotatedDomain, onePhiStep, oneWavelength, noHorizontalDivergence,
    noVerticalDivergence, oneSource, noWater;
} // namespace dead

} // namespace nanobragg
#endif
