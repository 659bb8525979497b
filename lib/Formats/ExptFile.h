// Experiment lists of DIALS, .expt.
#ifndef NANOBRAGG_FORMATS_EXPTFILE_H
#define NANOBRAGG_FORMATS_EXPTFILE_H

#include "lib/Files/OutputFile.h"
#include "lib/Formats/DialsExperiment.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nanobragg::io {

/// All experiments of the list, at least one, each with a beam and a detector; or one alone, and
/// what is wrong with others does not matter. Old lists, whose models are file names, are refused.
/// Throws FileError that names experiment and key.
std::vector<DialsExperiment> readExpt(const std::string &path,
                                      std::optional<std::size_t> one = std::nullopt);

/// The names of the images: a template with # for the digits (a rotation series), or one name
/// for each experiment.
struct ExptImages {
  std::string pattern;
  std::vector<std::string> names;
};

/// Writes a list that dxtbx reads, old and new. Models that are equal stand in it once.
void writeExpt(OutputFile &out, std::span<const DialsExperiment> experiments,
               const ExptImages &images);

} // namespace nanobragg::io
#endif
