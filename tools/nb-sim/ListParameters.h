// The numbers a kernel can take.
#ifndef NANOBRAGG_NBSIM_LISTPARAMETERS_H
#define NANOBRAGG_NBSIM_LISTPARAMETERS_H

#include "lib/Experiment/Experiment.h"

#include <cstdio>

namespace nanobragg {

/// One line per parameter: name, unit, value in this experiment, whether it can be differentiated
/// with respect to, and meaning. Parameters that the experiment's variant does not take are listed
/// without a value. Then the groups with their members.
void listParameters(const Experiment &experiment, std::FILE *out);

} // namespace nanobragg
#endif
