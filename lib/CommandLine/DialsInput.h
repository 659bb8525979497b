// Experiments of DIALS as options.
#ifndef NANOBRAGG_COMMANDLINE_DIALSINPUT_H
#define NANOBRAGG_COMMANDLINE_DIALSINPUT_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/IO/DialsExperiment.h"

namespace nanobragg {

/// "FILE:N", or FILE for the first experiment.
struct ExptName {
  std::string path;
  std::optional<std::size_t> index;
};
ExptName exptNameOf(const std::string &word);

/// Reads --expt: fills the options that no flag has set, the matrix, mask and gain map, and
/// `loaded.dials`. What a flag and the file both say is decided by the flag; a remark tells so.
/// Throws UsageError, io::FileError.
void loadExpt(CommandLine &line, LoadedInputs &loaded);

/// Reads --geom, the same way.
void loadCrystfelGeometry(CommandLine &line, LoadedInputs &loaded);

/// Where the panels of a detector stand, as options: one panel as the detector itself, several as
/// panels about the one that the beam meets. Throws io::FileError where this program has no such
/// detector. `path` is for messages. `maskFile`: of DIALS, or empty.
void placePanels(const std::string &path, const std::vector<io::DialsPanel> &panels,
                 const io::DialsBeam &beam, const std::string &maskFile, CommandLine &line,
                 LoadedInputs &loaded);

/// Columns a*, b*, c* times the wavelength (A), as -mat has them; at the middle of frame `frame` of
/// the scan where the crystal changes over it.
Mat3 matrixOf(const io::DialsExperiment &experiment, double wavelength, std::int64_t frame);

/// What the options say, in A.
double wavelengthOf(const CommandLine &line, const Inputs &inputs);

} // namespace nanobragg
#endif
