// Kernel against interpreter.
#ifndef NB_COMPILER_COMPAREENGINES_H
#define NB_COMPILER_COMPAREENGINES_H

#include "lib/Compiler/Compare/FirstDifference.h"
#include "lib/Compiler/Compare/FirstKernelDifference.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::nb {

/// |image - reference| <= rtol * |reference| + atolOfMax * max |reference|.
struct EngineTolerance {
  double rtol = 1e-9, atolOfMax = 1e-12;
};

struct CompareOptions {
  EngineTolerance tolerance;
  bool everyStage = false; ///< interpret the program after each pass even when the engines agree
  int threads = 0;         ///< the interpreter's
  std::string inject;      ///< for tests, see recordStages; AFTER may be "kernel" too
};

/// An image against the interpreted input.
struct ImageDifference {
  std::string stage;  ///< a pass, or "kernel"
  size_t beyond = 0;  ///< pixels beyond the tolerance
  double largest = 0; ///< |image - reference|; infinity where one of them is not finite
  double worst = 0;   ///< largest difference in units of its tolerance
  Pixel pixel;        ///< that is worst
  double value = 0, reference = 0; ///< there
};

struct EngineComparison {
  size_t pixels = 0;
  EngineTolerance tolerance;
  ImageDifference kernel;              ///< its stage is empty when no kernel could be made
  std::vector<ImageDifference> stages; ///< those that were interpreted, in order
  bool ownPasses = false;              ///< they are the user's
  /// The first stage beyond the tolerance: a pass, or "kernel" for what follows nb-vectorize or the
  /// user's passes.
  std::optional<std::string> firstStage;
  std::string failure; ///< why the interpreter could not run the first stage, if so
  std::optional<NamedDifference> firstValue;   ///< when the first stage is a pass
  std::optional<KernelDifference> kernelValue; ///< when it is the kernel

  bool agree() const { return !firstStage; }
  std::string toString() const;
};

/// Runs a function on both engines; one that returns no image is compared by its results, packed as
/// packResults does. When they differ, runs the interpreter on the program after each pass, of the
/// user's where there are some, to find the first one that changes the image, and compares the
/// values before and after it.
llvm::Expected<EngineComparison> compareEngines(ModuleOp program, StringRef function,
                                                const RunArguments &arguments,
                                                const CompileOptions &compile,
                                                const CompareOptions &options);

/// The same for the program of a variant, rendered in f64 whatever its image type. `arguments`
/// are those of its kernel.
llvm::Expected<EngineComparison> compareEngines(const nanobragg::ProgramVariant &variant,
                                                const void *const *arguments,
                                                const CompileOptions &compile,
                                                const CompareOptions &options);

} // namespace mlir::nb

#endif
