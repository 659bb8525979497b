// Trials as text.
#ifndef NB_LAB_TRIALTEXT_H
#define NB_LAB_TRIALTEXT_H

#include "lib/Compiler/Lab/Trial.h"

namespace mlir::nb {

/// One object. Differences that are not finite are the largest number that there is, values that
/// are not are text, "nan".
std::string toJson(const TrialResult &result);
/// Inverse of toJson, but for the blame.
std::optional<TrialResult> trialFromJson(llvm::StringRef text);

/// "-3.1 % (-4.0 to -2.2)"
std::string textOf(const Ratio &change);

/// A table with a line for each, and below it what went wrong.
std::string tableOf(const std::vector<TrialResult> &results);

} // namespace mlir::nb

#endif
