// A series as DIALS describes it.
#ifndef NANOBRAGG_NBSIM_SERIESEXPT_H
#define NANOBRAGG_NBSIM_SERIESEXPT_H

#include "lib/Formats/ExptFile.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/shared/RunSetup.h"

#include <vector>

namespace nanobragg {

/// Absolute, without "." and "..".
std::string absoluteName(const std::string &name);

/// A rotation series of `first`, whose scan is of all frames; further lattices of --expt, and
/// `others`, are further experiments of the same images.
void writeScanExpt(io::OutputFile &out, const RunSetup &setup, const FrameFiles &files,
                   const io::DialsExperiment &first,
                   const std::vector<io::DialsExperiment> &others);

/// Stills: the lattices of each.
void writeStillsExpt(io::OutputFile &out, const RunSetup &setup, const FrameFiles &files,
                     const std::vector<std::vector<io::DialsExperiment>> &stills);

} // namespace nanobragg
#endif
