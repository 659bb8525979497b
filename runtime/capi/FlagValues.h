//===- FlagValues.h - parameters from a command line ------------*- C++ -*-===//
#ifndef NANOBRAGG_CAPI_FLAGVALUES_H
#define NANOBRAGG_CAPI_FLAGVALUES_H

#include "Experiment.h"
#include "ParameterValues.h"

#include <string>
#include <vector>

namespace nanobragg {

/// Reads the files that the flags of nb-sim name and makes every choice.
Experiment experimentOf(const std::vector<std::string> &flags);

/// Copies what the kernel takes of the experiment.
void setAll(ParameterValues &values, const nb_kernel_descriptor &kernel,
            const Experiment &experiment);

} // namespace nanobragg
#endif
