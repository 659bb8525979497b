#include "test/Dialect/derivatives/Formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::nb::test {

DialectRegistry registryOfFormulas() {
  DialectRegistry registry;
  registry.insert<NBDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
  registerInterpreter(registry);
  return registry;
}

static size_t numbersIn(Type type) { return isa<Vec3Type>(type) ? 3 : isa<Mat3Type>(type) ? 9 : 1; }

Formula::Formula(const std::string &text)
    : context(registryOfFormulas(), MLIRContext::Threading::DISABLED) {
  // The nb dialect brings the rules of arith and math.
  context.loadDialect<NBDialect>();
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module) {
    ADD_FAILURE() << text;
    return;
  }
  auto function = *module->getOps<func::FuncOp>().begin();
  unsigned arguments = function.getNumArguments();
  for (Type type : function.getArgumentTypes())
    inputs += numbersIn(type);
  std::string missing;
  func::FuncOp tangent = tangentOf(function, arguments, missing);
  func::FuncOp again = tangent ? tangentOf(tangent, arguments, missing) : func::FuncOp();
  func::FuncOp adjoint = adjointOf(function, missing);
  if (!again || !adjoint) {
    ADD_FAILURE() << "no rule for " << missing << " in " << text;
    return;
  }
  plain = prepare(function);
  expanded = prepare(test::expanded(function));
  first = prepare(tangent);
  second = prepare(again);
  reverse = prepare(adjoint);
  complete = plain && expanded && first && second && reverse;
}

std::unique_ptr<Formula::Engine> Formula::prepare(func::FuncOp function) {
  auto interpreter = Interpreter::prepare(function);
  if (failed(interpreter)) {
    ADD_FAILURE() << "cannot interpret " << function.getName().str();
    return nullptr;
  }
  return std::make_unique<Engine>(llvm::to_vector(function.getArgumentTypes()),
                                  std::move(*interpreter));
}

Numbers Formula::runOn(const Engine &engine, const Numbers &numbers) {
  std::vector<InterpreterArgument> arguments;
  const double *next = numbers.data();
  for (Type type : engine.arguments) {
    arguments.emplace_back().data = next;
    next += numbersIn(type);
  }
  EXPECT_EQ(next, numbers.data() + numbers.size());
  auto results = engine.interpreter.run(arguments);
  Numbers all;
  if (succeeded(results))
    for (const InterpreterResult &result : *results)
      all.insert(all.end(), result.values.begin(), result.values.end());
  return all;
}

} // namespace mlir::nb::test
