// The simulated experiment as DIALS describes it.
#ifndef NANOBRAGG_NBSIM_DIALSEXPERIMENTOF_H
#define NANOBRAGG_NBSIM_DIALSEXPERIMENTOF_H

#include "lib/Choose/Defaults.h"
#include "lib/Formats/DialsExperiment.h"
#include "lib/Runs/ExperimentOf.h"

namespace nanobragg {

/// In the frame of the file where beam and detector came from one; else in a frame in which the
/// beam runs along -z and the spindle lies along +x, as DIALS has it. `frames`: images of the scan,
/// 1 for one image, 0 for a still, whose crystal is that of the middle of its rotation. The crystal
/// has fixed and setting rotations in it and does not vary.
io::DialsExperiment simulatedExperiment(const CompleteExperiment &complete, const CommandLine &line,
                                        const LoadedInputs &loaded, std::int64_t frames);

/// The same; models that the run has as the file of --expt says them keep the file's text.
io::DialsExperiment dialsExperimentOf(const CompleteExperiment &complete, const CommandLine &line,
                                      const LoadedInputs &loaded, std::int64_t frames);

} // namespace nanobragg
#endif
