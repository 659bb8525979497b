#include "lib/Transforms/OpenText.h"

#include "lib/Process/Isolated.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>

namespace mlir::nb {
namespace {

/// Behind a string or a comment that begins at `i`, or at `i`.
size_t skipped(StringRef text, size_t i) {
  if (text.substr(i).starts_with("//"))
    return std::min(text.find('\n', i), text.size());
  if (text[i] != '"')
    return i;
  for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
    i += text[i] == '\\';
  return i;
}

} // namespace

int textDepth(StringRef text) {
  int depth = 0, deepest = 0, minus = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    i = skipped(text, i);
    if (i >= text.size())
      break;
    // The signs of -> => >= and <= are no brackets.
    const bool sign = (i > 0 && StringRef("-=").contains(text[i - 1])) ||
                      (i + 1 < text.size() && text[i + 1] == '=');
    if (StringRef("([{").contains(text[i]) || (text[i] == '<' && !sign))
      deepest = std::max(deepest, ++depth);
    else if (StringRef(")]}").contains(text[i]) || (text[i] == '>' && !sign))
      depth = std::max(depth - 1, 0);
    if (text[i] == '-')
      deepest = std::max(deepest, depth + ++minus);
    else if (!llvm::isSpace(text[i]))
      minus = 0;
  }
  return deepest;
}

std::unique_ptr<llvm::MemoryBuffer> openText(StringRef file, std::string *why) {
  llvm::sys::fs::file_status status;
  if (file != "-" && !llvm::sys::fs::status(file, status) &&
      status.type() == llvm::sys::fs::file_type::character_file) {
    *why = ("cannot open input file '" + file + "': it is a device; give the name of a file").str();
    return nullptr;
  }
  auto buffer = openInputFile(file, why);
  if (!buffer || textDepth(buffer->getBuffer()) <= deepestText)
    return buffer;
  *why = ("cannot read input file '" + file + "': it is nested more than " +
          std::to_string(deepestText) + " times")
             .str();
  return nullptr;
}

std::string crashOfReading(llvm::MemoryBufferRef text, MLIRContext &context) {
  const auto read = [&]() -> std::string {
    MLIRContext own(context.getDialectRegistry(), MLIRContext::Threading::DISABLED);
    own.allowUnregisteredDialects(context.allowsUnregisteredDialects());
    const ScopedDiagnosticHandler silent(&own, [](Diagnostic &) { return success(); });
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, false), SMLoc());
    (void)parseSourceFile<ModuleOp>(sources, ParserConfig(&own));
    return "";
  };
  const auto result = nanobragg::runIsolated(read, {.seconds = 60});
  if (result.problem.empty() || !result.begun)
    return "";
  return "makes MLIR's own reader or verifier of one of its ops fail (it " + result.problem +
         "); leave out the ops of other dialects (transform, linalg) one by one to find it";
}

} // namespace mlir::nb
