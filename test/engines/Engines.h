// One variant on both engines.
#ifndef NB_TEST_ENGINES_ENGINES_H
#define NB_TEST_ENGINES_ENGINES_H

#include "lib/Compiler/Compare/CompareEngines.h"
#include "lib/Experiment/Experiment.h"
#include "lib/Program/BoundParameters.h"

namespace mlir::nb {

/// A context with all that programs need, and the arguments of experiments.
MLIRContext &testContext();

/// The program of a variant as the frontend writes it.
OwningOpRef<ModuleOp> programOf(const nanobragg::ProgramVariant &variant);

/// Fails the test and throws when there is an error.
template <typename T>
T valueOf(llvm::Expected<T> expected) {
  if (!expected)
    throw std::runtime_error(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

/// An experiment's numbers as arguments of its program; the experiment must outlive it.
class BoundArguments {
public:
  explicit BoundArguments(const nanobragg::Experiment &experiment);
  const RunArguments &get() const { return arguments; }
  const void *const *addresses() const { return bound->arguments(); }

private:
  std::vector<nb_kernel_parameter> parameters;
  std::unique_ptr<nanobragg::BoundParameters> bound;
  RunArguments arguments;
};

/// The program of a variant, compiled, to run many experiments.
class BothEngines {
public:
  explicit BothEngines(const nanobragg::ProgramVariant &variant);

  RenderedImage interpreted(const nanobragg::Experiment &experiment);
  RenderedImage compiled(const nanobragg::Experiment &experiment);

  ModuleOp getProgram() { return *program; }

private:
  OwningOpRef<ModuleOp> program;
  std::unique_ptr<JitKernel> kernel;
};

} // namespace mlir::nb

#endif
