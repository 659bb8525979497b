// Atoms whose f' and f'' count.
#ifndef NANOBRAGG_INPUTS_ANOMALOUSINPUT_H
#define NANOBRAGG_INPUTS_ANOMALOUSINPUT_H

#include "lib/Inputs/LoadInputs.h"

namespace nanobragg {

/// Adds the scatterers of --anomalous-atoms to the complex factors that are loaded, with the f' and
/// f'' of --anomalous-table, or without it those of their elements at the wavelengths of all
/// sources. All other inputs are loaded. Throws UsageError, io::FileError.
void loadAnomalousAtoms(const ExperimentRequest &request, LoadedInputs &loaded);

} // namespace nanobragg
#endif
