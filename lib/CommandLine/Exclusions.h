// Flags that exclude each other, and those that change nothing in this run.
#ifndef NANOBRAGG_COMMANDLINE_EXCLUSIONS_H
#define NANOBRAGG_COMMANDLINE_EXCLUSIONS_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Quantities/Quantity.h"

#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// Two flags of which a run can follow one only.
struct Exclusion {
  std::string_view first, second; ///< their names in the flag table
  std::string_view why;           ///< a clause
  /// Values of the flags for which this holds; null: all.
  bool (*when)(const CommandLine &) = nullptr;
  std::string_view values = ""; ///< the same in words, for the reference
};

/// All of them; no pair stands twice.
const std::vector<Exclusion> &exclusions();

/// The flag by which a run does something else than make an image; null when there is none.
const GivenFlag *actionOf(const CommandLine &line);

/// That, or a flag that looks at the run which makes an image.
const GivenFlag *questionOf(const CommandLine &line);

/// Throws UsageError for the first pair that `line` has, naming both as the user spelt them.
void refuseExclusions(const CommandLine &line);

/// One sentence for each flag that was given and has no effect: a quantity that nothing was chosen
/// by (`neverRead`, of CompleteExperiment), or a flag whose row says so.
std::vector<std::string> flagsWithoutEffect(const CommandLine &line,
                                            const std::vector<const Field *> &neverRead);

/// As the user wrote them: the flags that name a file of the image, for whoever writes none.
std::vector<std::string> flagsOfImageFiles(const CommandLine &line);

} // namespace nanobragg
#endif
