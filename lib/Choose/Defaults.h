// From options, in which much is unset, to an experiment, in which nothing is.
#ifndef NANOBRAGG_CHOOSE_DEFAULTS_H
#define NANOBRAGG_CHOOSE_DEFAULTS_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Options.h"
#include "lib/Experiment/Ran1.h"
#include "lib/Experiment/Report.h"
#include "lib/Experiment/Semantics.h"
#include "lib/Quantities/Quantity.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace nanobragg {

struct CompleteExperiment {
  Experiment experiment;
  Report report;
  std::vector<std::string> warnings; ///< one sentence each, without a "WARNING:"
  /// Names of the semantic switches that are set Right and would make this run differ with C.
  std::vector<std::string> notices;
  std::vector<std::string> notes;       ///< other things worth knowing; one sentence each
  std::vector<const Field *> neverRead; ///< fields of options by which nothing was chosen
  /// The generator after misset and mosaic draws, and the seed for the noise image: pass both on.
  Ran1 random;
  std::int64_t noiseSeed = 0; ///< negated, as the C program keeps and prints it
};

/// The error for a user who gives neither a cell nor structure factors.
inline constexpr const char *noUnitCell =
    "no unit cell: give -mat FILE or -cell A B C ALPHA BETA GAMMA";
inline constexpr const char *noStructureFactors =
    "no structure factors: give -hkl FILE, -default_F F or -dump FILE";

/// Chooses a value for all that the user left open. Throws std::invalid_argument with one sentence
/// that names the flag when a value is impossible; values outside of a quantity's range, and those
/// whose unit is doubtful, are told in the caller's words.
CompleteExperiment chooseDefaults(const Options &options, const Inputs &inputs,
                                  const Semantics &semantics, Caller caller = Caller::CommandLine);

/// The mean of a density that is linear between rows of wavelength and density, in ascending order;
/// the first wavelength where there is no light.
double meanWavelength(std::span<const std::array<double, 2>> points);

} // namespace nanobragg
#endif
