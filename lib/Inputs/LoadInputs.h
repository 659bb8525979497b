// What the files have that a command line names.
#ifndef NANOBRAGG_INPUTS_LOADINPUTS_H
#define NANOBRAGG_INPUTS_LOADINPUTS_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Experiment/Defaults.h"
#include "lib/IO/DialsExperiment.h"
#include "lib/IO/HklFile.h"

#include <string>
#include <vector>

namespace nanobragg {

struct LoadedInputs {
  Inputs inputs;
  Options options; ///< those of the command line, and what files say where it says nothing
  std::size_t reflections = 0;       ///< lines of the -hkl file, or nodes of the dump
  std::vector<std::string> warnings; ///< with those of the command line
  /// From --expt: the experiment, and those that share its images. Empty without.
  std::vector<io::DialsExperiment> dials;
  bool geometryFromFile = false;    ///< the frame is that of a file, not of a convention
  std::string shots;                ///< content of --shots
  std::string lattices;             ///< content of --lattices
  std::string hallSymbol;           ///< the structure factors' space group; empty: unknown
  std::vector<std::string> remarks; ///< what was taken from files; one sentence each
  std::vector<std::string>
      notices; ///< semantic switches that matter here, as CompleteExperiment::notices
};

/// Reads every file that the command line names. What `given` has comes from memory and takes the
/// place of a file. Throws UsageError where something needed is neither named nor given,
/// io::FileError where a file cannot be used. A reflection list that `parsed` has is not parsed
/// again; null: there is none.
LoadedInputs loadInputs(const CommandLine &line, Inputs given = {}, io::HklStore *parsed = nullptr);

/// The experiment of these options with one domain and one sample in a pixel, and no structure
/// factors of its own: what does not depend on them.
CompleteExperiment withoutFactors(Options options, const Inputs &inputs,
                                  std::vector<SourceRow> sources, const Semantics &semantics);

/// Thickness, density and molar mass of the backgrounds, as the flags say them.
void applyMaterials(const InputFiles &files, Inputs &inputs);

/// The pixels that --pixels lists, of the experiment's detector; none without it. Throws
/// io::FileError.
std::vector<PixelIndex> loadPixelList(const CommandLine &line, const Experiment &experiment);

} // namespace nanobragg
#endif
