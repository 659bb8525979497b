// Parameters from a command line.
#ifndef NANOBRAGG_CAPI_FLAGVALUES_H
#define NANOBRAGG_CAPI_FLAGVALUES_H

#include "lib/Experiment/Experiment.h"
#include "runtime/capi/ParameterValues.h"

namespace nanobragg {

/// Copies what the kernel takes of the experiment.
void setAll(ParameterValues &values, const nb_kernel_descriptor &kernel,
            const Experiment &experiment);

} // namespace nanobragg
#endif
