#include "lib/Compiler/CodeGen/ProgramLines.h"

#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/AsmState.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <atomic>
#include <cstdlib>

using namespace mlir;
using namespace mlir::nb;

using Line = FusedLocWith<IntegerAttr>;

/// Around the line in an instruction's name, behind which LLVM tells equal names apart by numbers.
static constexpr llvm::StringLiteral linePrefix = "line", lineEnd = "_";

/// Names and flags stay outermost, where others look for them.
static Location withLine(Location loc, IntegerAttr line) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return NameLoc::get(name.getName(), withLine(name.getChildLoc(), line));
  const Location numbered =
      FusedLoc::get({UnknownLoc::get(loc.getContext())}, line, loc.getContext());
  if (auto flags = dyn_cast<FusedLocWith<StringAttr>>(loc))
    return FusedLoc::get({numbered}, flags.getMetadata(), loc.getContext());
  return numbered;
}

std::string nb::numberLines(ModuleOp program) {
  std::string text;
  AsmState::LocationMap places;
  {
    llvm::raw_string_ostream stream(text);
    AsmState state(program, OpPrintingFlags().printNameLocAsPrefix(), &places);
    program->print(stream, state);
  }
  Builder b(program.getContext());
  program->walk([&](Operation *op) {
    const auto place = places.find(op);
    if (place == places.end())
      return;
    const IntegerAttr line = b.getI32IntegerAttr(int32_t(place->second.first));
    op->setLoc(withLine(op->getLoc(), line));
    // Passes take the places of values, too.
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setLoc(withLine(argument.getLoc(), line));
  });
  return text;
}

LogicalResult nb::placeLines(ModuleOp program, StringRef file, bool linesAlone) {
  MLIRContext *context = program.getContext();
  const StringAttr name = StringAttr::get(context, file);
  llvm::DenseMap<int64_t, Location> places;
  auto placeOf = [&](int64_t line) {
    return places.try_emplace(line, FileLineColLoc::get(name, unsigned(line), 1)).first->second;
  };
  program->walk([&](Operation *op) {
    if (const auto line = op->getLoc()->findInstanceOf<Line>())
      op->setLoc(placeOf(line.getMetadata().getInt()));
    else if (isa<ModuleOp, LLVM::LLVMFuncOp>(op))
      op->setLoc(placeOf(1));
    else
      op->setLoc(UnknownLoc::get(context));
  });
  FlaggedPassManager passes(context);
  passes.enableVerifier(false);
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(
      {linesAlone ? LLVM::DIEmissionKind::DebugDirectivesOnly : LLVM::DIEmissionKind::Full}));
  return passes.run(program);
}

void nb::embedText(llvm::Module &module, StringRef text) {
  llvm::LLVMContext &context = module.getContext();
  // Lines of DWARF 5 could hold it, but GNU's tools and perf then read none of them.
  module.getOrInsertNamedMetadata("llvm.commandline")
      ->addOperand(llvm::MDNode::get(context, llvm::MDString::get(context, text)));
}

void nb::nameByLines(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (const llvm::DebugLoc &place = instruction.getDebugLoc();
          place && !instruction.getType()->isVoidTy())
        instruction.setName(linePrefix + std::to_string(place.getLine()) + lineEnd);
}

void nb::restoreLines(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      StringRef name = instruction.getName();
      unsigned line;
      if ((instruction.getDebugLoc() && instruction.getDebugLoc().getLine() != 0) ||
          !function.getSubprogram() || !name.consume_front(linePrefix) ||
          name.split(lineEnd).first.getAsInteger(10, line))
        continue;
      instruction.setDebugLoc(
          llvm::DILocation::get(module.getContext(), line, 1, function.getSubprogram()));
    }
}

std::string nb::programFileOfProcess() {
  const char *folder = std::getenv("NB_KERNEL_FILES");
  if (!folder || !*folder)
    return {};
  static std::atomic<unsigned> count = 0;
  llvm::SmallString<128> file(folder);
  llvm::sys::path::append(file, "program-" + Twine(llvm::sys::Process::getProcessId()) + "-" +
                                    Twine(++count) + ".mlir");
  return std::string(file);
}
