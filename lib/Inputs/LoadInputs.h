// From what a user wants to the experiment: the files are read, the open fields chosen.
#ifndef NANOBRAGG_INPUTS_LOADINPUTS_H
#define NANOBRAGG_INPUTS_LOADINPUTS_H

#include "lib/Choose/Defaults.h"
#include "lib/Experiment/LabPanels.h"
#include "lib/Experiment/PixelList.h"
#include "lib/Formats/DialsExperiment.h"
#include "lib/Formats/HklFile.h"
#include "lib/Formats/SpectrumFile.h"
#include "lib/Inputs/InputFiles.h"

#include <functional>
#include <string>
#include <vector>

namespace nanobragg {

/// The request for an experiment before a file is read.
struct ExperimentRequest {
  Options options;
  Inputs inputs; ///< from memory; they take the place of files
  InputFiles files;
  /// From memory: the detector, in place of that of files. With Options::pixelSize, unless a file
  /// says it; without a file that says otherwise the beam is along z, polarized along x.
  std::vector<LabPanel> panels;
  Semantics semantics;
  Caller caller = Caller::CommandLine; ///< in whose words messages are
  /// Calls back with the options of each still of a table, until that returns false. Empty: there
  /// is one image, or the images differ in nothing that inputs depend on.
  std::function<void(const Options &, const std::function<bool(const Options &)> &)> eachStill;
  // The errors where neither options nor files nor stills have them.
  std::string noCell = noUnitCell, noFactors = noStructureFactors;
  bool manyImages = false;       ///< a scan is rendered as a whole
  bool rotationOfFrames = false; ///< each frame's rotation is given apart from the options
};

struct LoadedInputs {
  Inputs inputs;
  Options options;             ///< options of the request, and of files where it has none
  std::size_t reflections = 0; ///< lines of the -hkl file, or nodes of the dump
  std::vector<std::string> warnings;
  /// From --expt: the experiment, and those that share its images. Empty without.
  std::vector<io::DialsExperiment> dials;
  bool hasSpectraOfShots = false;    ///< --spectrum may have another one for each shot
  std::vector<io::Spectrum> spectra; ///< see readSpectra()
  bool isMeanWavelength = false;     ///< the wavelength is the mean of the spectrum
  bool geometryFromFile = false;     ///< the frame is that of a file, not of a convention
  std::string hallSymbol;            ///< the structure factors' space group; empty: unknown
  std::vector<std::string> remarks;  ///< values that were taken from files; one sentence each
  std::vector<std::string>
      notices; ///< semantic switches that matter here, as CompleteExperiment::notices
};

/// Reads every file that the request names. Throws UsageError where something needed is neither
/// named nor given, io::FileError where a file cannot be used. A reflection list that `parsed` has
/// is not parsed again; null: there is none.
LoadedInputs loadInputs(const ExperimentRequest &request, io::HklStore *parsed = nullptr);

/// Chooses what is open. Errors and warnings are in the words of the request's caller; warnings say
/// also where samples are too few and averages inexact.
CompleteExperiment completeExperiment(const ExperimentRequest &request, const LoadedInputs &loaded);

/// The experiment of these options with one domain and one sample in a pixel, and no structure
/// factors of its own: what does not depend on them.
CompleteExperiment withoutFactors(Options options, const Inputs &inputs,
                                  std::vector<SourceRow> sources, const Semantics &semantics);

/// Thickness, density and molar mass of the backgrounds, as the files' materials have them.
void applyMaterials(const InputFiles &files, Inputs &inputs);

/// The pixels that the file lists, of the experiment's detector; none without it. Throws
/// io::FileError.
std::vector<PixelIndex> loadPixelList(const InputFiles &files, const Experiment &experiment);

/// Whether the caller has set what a file says too, and a remark that says so.
class CallerFirst {
public:
  CallerFirst(const ExperimentRequest &request, const std::string &path, LoadedInputs &loaded)
      : request(request), path(path), loaded(loaded) {}

  /// A remark that `what` is decided by the caller's field, where one of these is set.
  template <typename... T>
  bool anyOf(const char *what, T Options::*...fields) {
    for (const Quantity *row : {setBy(fields)...})
      if (row)
        return decides(std::string(row->nameFor(request.caller)), what);
    return false;
  }
  /// The same for what is not a quantity.
  bool isNamed(bool there, std::string_view flag, const char *what);

private:
  /// The quantity that a field was set by; null where it is unset.
  template <typename T>
  const Quantity *setBy(T Options::*field) const {
    static const Options open;
    return request.options.*field == open.*field
               ? nullptr
               : quantityOf(&(request.options.*field), request.options);
  }
  bool decides(const std::string &name, const char *what);

  const ExperimentRequest &request;
  const std::string &path;
  LoadedInputs &loaded;
};

} // namespace nanobragg
#endif
