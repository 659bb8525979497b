// The lines that a run prints about itself.
//
// The wording and order of the C program's lines, which other programs parse.
#ifndef NANOBRAGG_NBSIM_CONSOLE_H
#define NANOBRAGG_NBSIM_CONSOLE_H

#include "lib/Choose/Defaults.h"

#include <cstddef>
#include <cstdio>
#include <string>

namespace nanobragg {

/// Files that a run reads; empty: not given.
struct InputNames {
  std::string image, mask, matrix, hkl, dump, sources, stol;
};

struct SetupFacts {
  const Options &options;
  const CompleteExperiment &complete;
  InputNames names;
  std::size_t reflections = 0; ///< structure factors that were read
  std::string dumpWritten;     ///< name of the dump file that the run writes, or empty
  bool noise = true;           ///< a noise image will be drawn
};

/// All lines before the first pixel.
void printSetup(std::FILE *out, const SetupFacts &facts);

} // namespace nanobragg
#endif
