// Structure factors of files that crystallographers keep.
#ifndef NANOBRAGG_INPUTS_STRUCTUREFACTORINPUT_H
#define NANOBRAGG_INPUTS_STRUCTUREFACTORINPUT_H

#include "lib/Formats/StructureFactorFile.h"
#include "lib/Inputs/LoadInputs.h"

namespace nanobragg {

/// Puts the factors of an MTZ, mmCIF or PDB file into `loaded`, and its cell into its options where
/// neither -cell nor -mat gives one. Everything but the structure factors has been loaded before.
/// Throws UsageError where the file's cell is not that of the command line, io::FileError.
void loadCrystallographicFile(const io::NameAndLabel &file, const std::string &content,
                              io::StructureFactorFormat format, const ExperimentRequest &request,
                              LoadedInputs &loaded);

/// The same of several models that share the crystal, whose complex factors add up in proportion to
/// their weights.
void loadWeightedModels(const std::vector<io::NameAndWeight> &models,
                        const ExperimentRequest &request, LoadedInputs &loaded);

} // namespace nanobragg
#endif
