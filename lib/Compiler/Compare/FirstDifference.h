// Where two programs part.
#ifndef NB_COMPILER_FIRSTDIFFERENCE_H
#define NB_COMPILER_FIRSTDIFFERENCE_H

#include "lib/Compiler/Run/RunProgram.h"

#include <optional>

namespace mlir::nb {

/// A named value and the extremes that it reached in one pixel, component by component.
struct NamedDifference {
  std::string name;
  std::string op; ///< that computes it before the pass
  std::vector<Statistics> before, after;

  std::string toString() const;
};

/// Compares two programs of one function value by value: runs both in the interpreter at one pixel
/// (of every panel) with a probe on each value, and returns the first value, in the order of
/// `before`, that
///  * differs: `after` has values of its name, but none with its extremes, and
///  * matters: something computed from it differs or has no namesake, all the way to the pixel.
/// A pass may well compute other things on the way to the same result; those do not matter.
/// `prefix`: only values whose names begin with it are returned.
llvm::Expected<std::optional<NamedDifference>>
firstDifference(ModuleOp before, ModuleOp after, StringRef function, const RunArguments &arguments,
                Pixel pixel, double rtol, StringRef prefix = "");

} // namespace mlir::nb

#endif
