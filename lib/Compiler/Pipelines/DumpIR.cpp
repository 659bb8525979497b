#include "lib/Compiler/Pipelines/DumpIR.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace {
class Dumper : public PassInstrumentation {
public:
  Dumper(ModuleOp program, StringRef directory) : program(program), directory(directory) {}

  llvm::Error write(StringRef name, StringRef command) {
    SmallString<128> path(directory);
    std::string file = llvm::formatv("{0,0+2}-{1}.mlir", count++, name);
    llvm::sys::path::append(path, file);
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (error)
      return llvm::createStringError("cannot write " + path.str().str() + ": " + error.message());
    if (!command.empty())
      stream << "// nb-opt " << command << ' ' << previous << '\n';
    program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
    stream << '\n';
    stream.flush();
    if (stream.has_error())
      return llvm::createStringError("cannot write " + path.str().str() + ": " +
                                     stream.error().message());
    previous = file;
    return llvm::Error::success();
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    if (name.empty())
      return; // the adaptor that nests passes in functions
    std::string pipeline;
    llvm::raw_string_ostream stream(pipeline);
    pass->printAsTextualPipeline(stream);
    std::string anchor = op->getName().getStringRef().str();
    std::string nested = anchor == "builtin.module" ? pipeline : anchor + "(" + pipeline + ")";
    std::string command = "--pass-pipeline='builtin.module(" + nested + ")'";
    if (llvm::Error error = write(name, command))
      op->emitError(llvm::toString(std::move(error)));
  }

private:
  ModuleOp program;
  std::string directory, previous;
  unsigned count = 0;
};
} // namespace

llvm::Error nb::dumpIRAfterEachPass(PassManager &passes, ModuleOp program, StringRef directory) {
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return llvm::createStringError("cannot create directory " + directory.str() + ": " +
                                   error.message());
  auto dumper = std::make_unique<Dumper>(program, directory);
  if (llvm::Error error = dumper->write("input", ""))
    return error;
  passes.addInstrumentation(std::move(dumper));
  return llvm::Error::success();
}
