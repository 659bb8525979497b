// Numbers as the command line has them.
#ifndef NANOBRAGG_COMMANDLINE_NUMBERS_H
#define NANOBRAGG_COMMANDLINE_NUMBERS_H

#include "lib/Experiment/Range.h"

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// The whole word as a finite decimal number; nothing when any of it is not part of the number.
std::optional<double> parseNumber(std::string_view word);

/// The number that starts the word, zero when none does: C's atof.
double leadingNumber(const std::string &word);

} // namespace nanobragg
#endif
