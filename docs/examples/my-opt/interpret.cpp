// Runs a function without arguments in the reference interpreter: interpret FILE.mlir

#include "lib/Interpreter/Interpreter.h"
#include "nanobragg/mlir/Registration.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  nb::registerAllDialects(registry);
  nb::registerInterpreter(registry);
  MLIRContext context(registry);
  auto program = parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "-", &context);
  if (!program || program->getOps<func::FuncOp>().empty())
    return 1;
  auto interpreter = nb::Interpreter::prepare(*program->getOps<func::FuncOp>().begin());
  if (failed(interpreter))
    return 1;
  auto results = interpreter->run({});
  if (failed(results))
    return 1;
  for (const nb::InterpreterResult &result : *results)
    for (double value : result.values)
      llvm::outs() << value << "\n";
  return 0;
}
