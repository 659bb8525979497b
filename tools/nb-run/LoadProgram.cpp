#include "tools/nb-run/LoadProgram.h"

#include "lib/Compiler/Pipelines/ValueNames.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

OwningOpRef<ModuleOp> nb::loadProgram(const std::string &path, MLIRContext &context) {
  std::string error;
  auto file = openInputFile(path, &error);
  if (!file) {
    llvm::errs() << "nb-run: error: " << error << "\n";
    return {};
  }
  llvm::SourceMgr sources; // for the lines that diagnostics show
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(file->getMemBufferRef(), false),
                             llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  return parseNamed(std::move(file), context);
}
