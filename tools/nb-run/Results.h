// The results of a function.
#ifndef NB_RUN_RESULTS_H
#define NB_RUN_RESULTS_H

#include "lib/Interpreter/Interpreter.h"

#include <string>
#include <vector>

namespace mlir::nb {

/// Writes the results to .npy files, one each; vectors and matrices add dimensions. An f32 image is
/// written in single precision. Throws std::runtime_error unless there are as many files as
/// results.
void writeResults(const std::vector<InterpreterResult> &results,
                  const std::vector<std::string> &files);

/// One line per result: its numbers, or for tables and images the shape, sum and extremes.
std::string describeResults(const std::vector<InterpreterResult> &results);

} // namespace mlir::nb

#endif
