#include "test/Interpreter/Support.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

namespace mlir::nb::test {

static DialectRegistry registryOfAll() {
  DialectRegistry registry;
  registry.insert<NBDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  func::FuncDialect, tensor::TensorDialect, vector::VectorDialect>();
  registerInterpreter(registry);
  return registry;
}

Program::Program(const std::string &text, bool quiet)
    : context(registryOfAll(), MLIRContext::Threading::DISABLED) {
  context.allowUnregisteredDialects();
  handler = std::make_unique<ScopedDiagnosticHandler>(&context, [this](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      messages += "note: " + note.str() + "\n";
  });
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module) {
    ADD_FAILURE() << messages << text;
    return;
  }
  // The last function is the one to run; others are for it to call.
  func::FuncOp function;
  for (auto candidate : module->getOps<func::FuncOp>())
    function = candidate;
  auto result = Interpreter::prepare(function);
  if (succeeded(result))
    interpreter.emplace(std::move(*result));
  else if (!quiet)
    ADD_FAILURE() << messages << text;
}

Program::Program(const std::string &text) : Program(text, false) {}

std::string Program::errorOf(const std::string &text) { return Program(text, true).messages; }

std::vector<InterpreterResult> Program::runBound(std::vector<InterpreterArgument> arguments,
                                                 const InterpreterOptions &options) {
  if (!prepared())
    return {};
  auto results = interpreter->run(arguments, options);
  return succeeded(results) ? *results : std::vector<InterpreterResult>();
}

std::vector<InterpreterResult> Program::run(const std::vector<std::vector<double>> &arguments,
                                            const InterpreterOptions &options) {
  if (!prepared())
    return {};
  func::FuncOp function;
  for (auto candidate : module->getOps<func::FuncOp>())
    function = candidate;
  std::vector<std::vector<int64_t>> integers(arguments.size());
  std::vector<InterpreterArgument> bound(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    Type type = function.getArgumentTypes()[i];
    if (auto table = dyn_cast<TableType>(type)) {
      type = table.getElementType();
      unsigned components = isa<Vec3Type>(type) ? 3 : isa<Mat3Type>(type) ? 9 : 1;
      bound[i].shape = {int64_t(arguments[i].size() / components)};
    }
    if (type.isIntOrIndex())
      integers[i].assign(arguments[i].begin(), arguments[i].end());
    bound[i].data =
        type.isIntOrIndex() ? static_cast<const void *>(integers[i].data()) : arguments[i].data();
  }
  return runBound(std::move(bound), options);
}

std::vector<double> Program::values(const std::vector<std::vector<double>> &arguments,
                                    const InterpreterOptions &options) {
  auto results = run(arguments, options);
  return results.empty() ? std::vector<double>() : results.front().values;
}

double ulps(const std::vector<double> &actual, const std::vector<double> &expected) {
  if (actual.size() != expected.size())
    return INFINITY;
  double largest = 0, difference = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    if (std::isnan(actual[i]) != std::isnan(expected[i]))
      return INFINITY;
    if (!std::isnan(actual[i]) && actual[i] != expected[i])
      difference = std::max(difference, std::abs(actual[i] - expected[i]));
  }
  return difference == 0 ? 0 : difference / (std::nextafter(largest, INFINITY) - largest);
}

} // namespace mlir::nb::test
