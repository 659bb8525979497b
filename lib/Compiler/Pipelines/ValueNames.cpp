#include "lib/Compiler/Pipelines/ValueNames.h"

#include "dialect/FlagLocations.h"
#include "dialect/Names.h"
#include "lib/Transforms/OpenText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// The names of a text, and what they were before a printer told equal ones apart by numbers.
class Names {
public:
  explicit Names(StringRef text) {
    for (size_t at = text.find('%'); at != StringRef::npos; at = text.find('%', at + 1))
      all.insert(nameAt(text.substr(at)));
  }

  /// The name in a text that begins with %NAME; empty for the names that printers invent.
  StringRef of(StringRef text) const {
    StringRef name = nameAt(text);
    static const llvm::Regex invented("^([0-9].*|arg[0-9]+|cst(_[0-9]+)?|(true|false)(_[0-9]+)?|"
                                      "c-?[0-9]+(_i[0-9]+)?(_[0-9]+)?)$");
    if (name.empty() || invented.match(name))
      return {};
    StringRef base = name.rtrim("0123456789");
    const bool numbered = base.size() != name.size() && base.consume_back("_");
    return numbered && all.contains(base) ? base : name;
  }

private:
  static StringRef nameAt(StringRef text) {
    if (!text.consume_front("%"))
      return {};
    return text.take_while(
        [](char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); });
  }

  llvm::StringSet<> all;
};
} // namespace

static Location named(StringRef name, Location loc) {
  if (name.empty() || loc->findInstanceOf<NameLoc>())
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

/// Arguments of functions say themselves what they are called.
static void nameArguments(Operation *top) {
  top->walk([](FunctionOpInterface function) {
    if (function.isExternal())
      return;
    for (BlockArgument argument : function.getArguments())
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), names::name))
        argument.setLoc(named(name, argument.getLoc()));
  });
}

static void nameValues(const AsmParserState &state, StringRef text) {
  const Names names(text);
  auto nameAt = [&](llvm::SMRange range) {
    return names.of(
        {range.Start.getPointer(), size_t(range.End.getPointer() - range.Start.getPointer())});
  };
  for (const auto &definition : state.getOpDefs())
    if (!definition.resultGroups.empty())
      definition.op->setLoc(
          named(nameAt(definition.resultGroups.front().definition.loc), definition.op->getLoc()));
  for (const auto &definition : state.getBlockDefs())
    for (auto [argument, where] : llvm::zip(definition.block->getArguments(), definition.arguments))
      argument.setLoc(named(nameAt(where.loc), argument.getLoc()));
}

OwningOpRef<ModuleOp> nb::parseNamed(std::unique_ptr<llvm::MemoryBuffer> file,
                                     MLIRContext &context) {
  llvm::SourceMgr sources;
  const bool bytecode = isBytecode(file->getMemBufferRef());
  const std::string name = file->getBufferIdentifier().str();
  StringRef text = file->getBuffer();
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  const auto start = FileLineColLoc::get(&context, name, 1, 1);
  if (const std::string crash =
          crashOfReading(sources.getMemoryBuffer(1)->getMemBufferRef(), context);
      !crash.empty()) {
    emitError(start, "this text ") << crash;
    return {};
  }
  const ScopedDiagnosticHandler adviser(&context, [](Diagnostic &diagnostic) {
    if (StringRef(diagnostic.str()).contains("not found for custom op"))
      diagnostic << "(--plugin=FILE loads the dialect of a plugin)";
    return failure();
  });
  OwningOpRef<ModuleOp> program;
  if (bytecode) {
    program = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  } else {
    Block parsed;
    AsmParserState state;
    if (failed(parseAsmSourceFile(sources, &parsed, ParserConfig(&context), &state)))
      return {};
    nameValues(state, text);
    program =
        mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&parsed, &context, start);
  }
  if (program) {
    nameArguments(*program);
    locateFlags(*program);
  }
  return program;
}

namespace {
/// Places in a text.
class Text {
public:
  explicit Text(StringRef text) : text(text) {
    starts.push_back(0);
    for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1))
      starts.push_back(at + 1);
  }

  /// The line of a location up to its column, and from there on; both empty where there is no such.
  std::pair<StringRef, StringRef> at(Location location) const {
    auto place = location->findInstanceOf<FileLineColLoc>();
    if (!place)
      return {};
    size_t line = place.getLine();
    // A part of the file (--split-input-file) is called "within split at FILE:LINE offset ".
    StringRef part = place.getFilename();
    size_t first;
    if (part.consume_front("within split at ") &&
        !part.rsplit(" offset").first.rsplit(':').second.getAsInteger(10, first))
      line += first - 1;
    if (line == 0 || line > starts.size() || place.getColumn() == 0)
      return {};
    StringRef whole = text.substr(starts[line - 1]).take_until([](char c) { return c == '\n'; });
    return {whole.take_front(place.getColumn() - 1),
            whole.drop_front(std::min<size_t>(place.getColumn() - 1, whole.size()))};
  }

private:
  StringRef text;
  SmallVector<size_t> starts;
};
} // namespace

/// "%a, %b:2 = " ahead of an op: from the % of the first.
static StringRef resultsBefore(StringRef text) {
  text = text.rtrim();
  if (!text.consume_back("="))
    return {};
  return text.ltrim();
}

void nb::nameFromText(Operation *top, StringRef contents) {
  const Names names(contents);
  const Text text(contents);
  top->walk([&](Operation *op) {
    if (op->getNumResults())
      op->setLoc(named(names.of(resultsBefore(text.at(op->getLoc()).first)), op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(named(names.of(text.at(argument.getLoc()).second), argument.getLoc()));
  });
  nameArguments(top);
  locateFlags(top);
}
