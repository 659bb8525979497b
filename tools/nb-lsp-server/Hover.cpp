#include "tools/nb-lsp-server/Hover.h"

#include "dialect/Names.h"
#include "lib/Program/Parameters.h"
#include "lib/Transforms/Dependences.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::nb;

static const char *const reference =
#include "tools/nb-lsp-server/dialect.md.inc"
    ;

/// From the generated reference: the summary, and what is said up to the example.
static std::string descriptionOf(StringRef op) {
  StringRef text = reference;
  const size_t heading = text.find(("\n### `" + op + "` ").str());
  if (heading == StringRef::npos)
    return "";
  text = text.drop_front(heading + 1);
  text = text.take_front(text.find("\n### "));
  text = text.substr(text.find('\n')).ltrim(); // the heading
  auto [summary, rest] = text.split('\n');
  rest = rest.ltrim();
  if (rest.consume_front("Syntax:")) {
    rest = rest.substr(rest.find("```") + 3);
    rest = rest.substr(rest.find("```") + 3);
  }
  for (StringRef end : {"\nExample", "\nTraits:", "\nInterfaces:", "\nEffects:", "\n#### "})
    rest = rest.take_front(rest.find(end));
  return ("**" + op + "**: " + summary.trim("_ ") + "\n\n" + rest.trim() + "\n").str();
}

static std::string parameterText(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, names::name);
  auto unit = function.getArgAttrOfType<StringAttr>(argument, "nb.unit");
  if (!name)
    return "";
  std::string text = "parameter **" + name.str() + "**";
  if (const nanobragg::Parameter *known = nanobragg::findParameter(name.str()))
    text += std::string(": ") + known->meaning;
  if (unit)
    text += unit.getValue() == "1" ? ", dimensionless" : ", in " + unit.str();
  return text + "\n";
}

namespace {
/// Finds what is at a place of the text.
class Finder {
public:
  Finder(const AsmParserState &state, SMLoc place) : state(state), place(place) {}

  /// The value whose definition or use is there; `op` is then the op that makes it.
  Value value;
  Operation *op = nullptr;

  void find() {
    for (const auto &definition : state.getOpDefs()) {
      if (contains(definition.loc))
        op = definition.op;
      for (auto [i, group] : llvm::enumerate(definition.resultGroups))
        if (isAt(group.definition))
          value = definition.op->getResult(group.startIndex);
    }
    for (const auto &block : state.getBlockDefs())
      for (auto [i, argument] : llvm::enumerate(block.arguments))
        if (isAt(argument))
          value = block.block->getArgument(unsigned(i));
    if (value)
      op = value.getDefiningOp();
  }

private:
  bool contains(SMRange range) const {
    return range.Start.getPointer() <= place.getPointer() &&
           place.getPointer() < range.End.getPointer();
  }
  bool isAt(const AsmParserState::SMDefinition &definition) const {
    return contains(definition.loc) ||
           llvm::any_of(definition.uses, [&](SMRange use) { return contains(use); });
  }

  const AsmParserState &state;
  SMLoc place;
};
} // namespace

std::string nb::hoverText(const std::string &program, unsigned line, unsigned column,
                          const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  llvm::SourceMgr sources;
  // The parser reads one character past the end, which is the 0 of a copy.
  const unsigned buffer =
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(program), SMLoc());
  Block parsed;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &parsed, ParserConfig(&context, false), &state)))
    return "";
  const SMLoc place = sources.FindLocForLineAndColumn(buffer, line + 1, column + 1);
  if (!place.isValid())
    return "";
  Finder finder(state, place);
  finder.find();
  std::string text;
  if (finder.op)
    text = descriptionOf(finder.op->getName().getStringRef());
  if (auto argument = dyn_cast_or_null<BlockArgument>(finder.value))
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      text += parameterText(function, argument.getArgNumber());
  Operation *within = finder.value ? finder.value.getParentBlock()->getParentOp() : finder.op;
  if (!within || !within->getParentOfType<FunctionOpInterface>())
    return text;
  Operation *top = within;
  while (top->getParentOp())
    top = top->getParentOp();
  const Dependences dependences(top);
  const unsigned mask = finder.value ? dependences.of(finder.value) : dependences.of(finder.op);
  return text + "\ndepends on: " + dependenceText(mask) + "\n";
}
