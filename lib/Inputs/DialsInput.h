// Experiments of DIALS as options.
#ifndef NANOBRAGG_INPUTS_DIALSINPUT_H
#define NANOBRAGG_INPUTS_DIALSINPUT_H

#include "lib/Inputs/LoadInputs.h"

namespace nanobragg {

/// Reads --expt: fills loaded.options where the caller has not, the matrix, mask and gain map, and
/// `loaded.dials`. Where the caller and the file both have a value, the caller's counts, and a
/// remark says so. Throws UsageError, io::FileError.
void loadExpt(const ExperimentRequest &request, LoadedInputs &loaded);

/// Reads --geom, the same way.
void loadCrystfelGeometry(const ExperimentRequest &request, LoadedInputs &loaded);

/// The request's own panels as options; all but the detector has been loaded. Throws UsageError.
void placeOwnPanels(const ExperimentRequest &request, LoadedInputs &loaded);

/// Where the panels of a detector stand, as options: one panel as the detector itself, several as
/// panels about the one that the beam meets. Throws io::FileError where this program has no such
/// detector. `path` is for messages. `maskFile`: of DIALS, or empty. `distanceIsIn`: the panels
/// stand at the caller's -distance already.
void placePanels(const std::string &path, const std::vector<io::DialsPanel> &panels,
                 const io::DialsBeam &beam, const std::string &maskFile,
                 const ExperimentRequest &request, LoadedInputs &loaded, bool distanceIsIn = false);

/// Columns a*, b*, c*, 1/m, at the middle of frame `frame` of the scan where the crystal changes
/// over it.
Mat3 matrixOf(const io::DialsExperiment &experiment, std::int64_t frame);

/// The wavelength (m) that the options have, else a header, else 1 A.
double wavelengthOf(const Options &options, const Inputs &inputs);

} // namespace nanobragg
#endif
