// Files to read, as the user named them.
#ifndef NANOBRAGG_INPUTS_INPUTFILES_H
#define NANOBRAGG_INPUTS_INPUTFILES_H

#include "lib/Experiment/Options.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// A table of amorphous scattering, by the name of its file or of a stock one.
struct BackgroundFile {
  std::string_view flag; ///< for messages
  std::string name;
  double stolUnit = 0; ///< unit of the table's first column, in 1/m
  MaterialOptions material;
};

struct InputFiles {
  std::optional<std::string> hkl, matrix, sources, image, mask, gainMap, panels, pixels;
  std::optional<std::string> expt;     ///< FILE or FILE:N
  std::optional<std::string> geometry; ///< CrystFEL's
  std::optional<std::string> spectrum, efficiency;
  std::optional<std::string> sensorMaterial;                 ///< a name
  std::optional<std::string> dump;                           ///< read without hkl, written with it
  std::optional<std::string> hklChannels;                    ///< in place of hkl
  std::optional<std::string> anomalousAtoms, anomalousTable; ///< both or none, with hkl
  std::vector<BackgroundFile> backgrounds;
  MaterialOptions material; ///< for all backgrounds that do not say otherwise
};

/// "FILE:N", or FILE for the first experiment.
struct ExptName {
  std::string path;
  std::optional<std::size_t> index;
};
ExptName exptNameOf(const std::string &word);

} // namespace nanobragg
#endif
