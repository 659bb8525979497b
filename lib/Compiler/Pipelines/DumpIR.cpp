#include "lib/Compiler/Pipelines/DumpIR.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

llvm::Expected<IRDump> IRDump::create(StringRef directory) {
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return createStringError("cannot create directory " + directory.str() + ": " + error.message());
  return IRDump(directory);
}

llvm::Error IRDump::writeFile(ModuleOp program, StringRef name, StringRef command) {
  SmallString<128> path(directory);
  std::string file = llvm::formatv("{0,0+2}-{1}.mlir", count++, name);
  llvm::sys::path::append(path, file);
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return createStringError("cannot write " + path.str().str() + ": " + error.message());
  if (!command.empty())
    stream << "// nb-opt " << command << '\n';
  program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  stream << '\n';
  stream.flush();
  if (stream.has_error())
    return createStringError("cannot write " + path.str().str() + ": " + stream.error().message());
  previous = file;
  return llvm::Error::success();
}

llvm::Error IRDump::write(ModuleOp program, StringRef pass, StringRef pipeline) {
  return writeFile(program, pass, "--pass-pipeline='" + pipeline.str() + "' " + previous);
}

llvm::Error IRDump::writeInput(ModuleOp program, StringRef from) {
  // The command without passes: it prints that file.
  return writeFile(program, "input", from);
}
