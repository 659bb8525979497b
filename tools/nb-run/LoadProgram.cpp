#include "tools/nb-run/LoadProgram.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// What the value is called in the text; nothing for %0 and the like.
static StringRef nameAt(llvm::SMRange range) {
  StringRef text(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  return !text.empty() && llvm::isDigit(text.front()) ? StringRef() : text;
}

static Location named(StringRef name, Location loc) {
  if (name.empty() || loc->findInstanceOf<NameLoc>())
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

static void nameValues(const AsmParserState &state) {
  for (const auto &definition : state.getOpDefs())
    if (!definition.resultGroups.empty())
      definition.op->setLoc(
          named(nameAt(definition.resultGroups.front().definition.loc), definition.op->getLoc()));
  for (const auto &definition : state.getBlockDefs())
    for (auto [argument, where] : llvm::zip(definition.block->getArguments(), definition.arguments))
      argument.setLoc(named(nameAt(where.loc), argument.getLoc()));
}

OwningOpRef<ModuleOp> nb::loadProgram(const std::string &path, MLIRContext &context) {
  std::string error;
  auto file = openInputFile(path, &error);
  if (!file) {
    llvm::errs() << "nb-run: error: " << error << "\n";
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  Block parsed;
  AsmParserState state;
  auto start = FileLineColLoc::get(&context, path, 1, 1);
  if (failed(parseAsmSourceFile(sources, &parsed, ParserConfig(&context), &state)))
    return {};
  nameValues(state);
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&parsed, &context, start);
}
