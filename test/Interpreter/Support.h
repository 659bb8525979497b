// Runs functions written as MLIR text.
#ifndef NB_TEST_INTERPRETER_SUPPORT_H
#define NB_TEST_INTERPRETER_SUPPORT_H

#include "dialect/NB.h"
#include "lib/Interpreter/Interpreter.h"
#include "nanobragg/KernelABI.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::nb::test {

/// A function in its module, ready to run.
class Program {
public:
  /// Fails the test when the text cannot be parsed or prepared; `prepared()` tells.
  explicit Program(const std::string &text);
  /// Keeps errors in errors() without failing the test.
  static std::string errorOf(const std::string &text);

  bool prepared() const { return interpreter.has_value(); }

  /// Numbers for each argument; indices and conditions are converted.
  std::vector<InterpreterResult> run(const std::vector<std::vector<double>> &arguments,
                                     const InterpreterOptions &options = {});
  /// The same with other things than numbers among the arguments.
  std::vector<InterpreterResult> runBound(std::vector<InterpreterArgument> arguments,
                                          const InterpreterOptions &options);
  /// The first result.
  std::vector<double> values(const std::vector<std::vector<double>> &arguments,
                             const InterpreterOptions &options = {});

  const std::string &errors() const { return messages; }

private:
  Program(const std::string &text, bool quiet);

  MLIRContext context;
  std::string messages;
  std::unique_ptr<ScopedDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;
  std::optional<Interpreter> interpreter;
};

/// |actual - expected| in units of the last place of the largest of `expected`.
double ulps(const std::vector<double> &actual, const std::vector<double> &expected);

} // namespace mlir::nb::test

#endif
