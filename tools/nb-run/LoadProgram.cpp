#include "tools/nb-run/LoadProgram.h"

#include "lib/Compiler/Pipelines/ValueNames.h"
#include "lib/Quantities/Printable.h"

#include "lib/Transforms/OpenText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

OwningOpRef<ModuleOp> nb::loadProgram(const std::string &path, MLIRContext &context) {
  std::string error;
  auto file = nb::openText(path, &error);
  if (!file) {
    llvm::errs() << "nb-run: error: " << nanobragg::printable(error) << "\n";
    return {};
  }
  llvm::SourceMgr sources; // for the lines that diagnostics show
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(file->getMemBufferRef(), false),
                             llvm::SMLoc());
  std::string said;
  llvm::raw_string_ostream stream(said);
  SourceMgrDiagnosticHandler diagnostics(sources, &context, stream);
  auto program = parseNamed(std::move(file), context);
  for (const StringRef line : llvm::split(StringRef(said).rtrim('\n'), '\n'))
    if (!said.empty())
      llvm::errs() << nanobragg::printable(line) << "\n";
  return program;
}
