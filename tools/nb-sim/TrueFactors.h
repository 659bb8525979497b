// The structure factors of a run as a file: --write-mtz.
#ifndef NANOBRAGG_NBSIM_TRUEFACTORS_H
#define NANOBRAGG_NBSIM_TRUEFACTORS_H

#include "tools/shared/RunSetup.h"

#include <string>

namespace nanobragg {

/// The content of an MTZ file with F(+) and F(-), electrons, of each reflection of the asymmetric
/// unit that is not 0 in the list of the run, in the space group of -hkl or --expt (P 1 where
/// neither has one). F is their mean. Throws UsageError where factors depend on the energy or no
/// list says them.
std::string trueFactors(const RunSetup &setup);

} // namespace nanobragg
#endif
