// How precisely a kernel computes, and for which experiments.
#ifndef NANOBRAGG_PROGRAM_PRECISION_H
#define NANOBRAGG_PROGRAM_PRECISION_H

#include "lib/Experiment/Experiment.h"
#include "nanobragg/Precision.h"

namespace nanobragg {

/// Cells along an axis up to which `mixed` keeps its bound for a crystal of that shape: more where
/// there are no fringes. docs/rationale/precision-bounds.md derives it.
int mostCellsOfMixed(const Experiment &experiment);

/// The precision to compute with where `wanted` is asked for: f64 instead of `mixed` for a crystal
/// of more cells along an axis (with those of `-Ncells_def`), whose phases need more than 32 bits,
/// and for a tophat, which has nothing to compute after the fraction of its index that would make
/// up for the change of type. `mixed` instead of `f32` for averages in closed form: the covariance
/// of a narrow spot that is widened one way has no inverse in f32.
Precision precisionFor(Precision wanted, const Experiment &experiment);

} // namespace nanobragg
#endif
