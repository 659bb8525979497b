#include "lib/Compiler/CodeGen/InstructionNames.h"

#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"

using namespace mlir;
using namespace mlir::nb;

std::vector<std::string> nb::linesOfNames(ModuleOp program) {
  MLIRContext *context = program.getContext();
  std::vector<std::string> names;
  llvm::StringMap<unsigned> lines;
  for (auto function : program.getOps<LLVM::LLVMFuncOp>())
    function->setLoc(FileLineColLoc::get(context, "names", 1, 1));
  FlaggedPassManager passes(context);
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  if (failed(passes.run(program)))
    return {};
  program->walk([&](Operation *op) {
    if (isa<ModuleOp, LLVM::LLVMFuncOp>(op))
      return;
    auto name = op->getLoc()->findInstanceOf<NameLoc>();
    if (!name) {
      op->setLoc(UnknownLoc::get(context));
      return;
    }
    auto [line, isNew] = lines.try_emplace(name.getName(), names.size() + 1);
    if (isNew)
      names.push_back(name.getName().str());
    op->setLoc(FileLineColLoc::get(context, "names", line->second, 1));
  });
  return names;
}

/// Blocks stand in their order, and so do the phis in them.
static void namePhis(LLVM::LLVMFuncOp function, llvm::Function &translated) {
  for (auto [block, instructions] : llvm::zip(function.getBlocks(), translated)) {
    if (block.isEntryBlock())
      continue;
    for (auto [argument, phi] : llvm::zip(block.getArguments(), instructions.phis()))
      if (auto name = argument.getLoc()->findInstanceOf<NameLoc>())
        phi.setName(name.getName().getValue());
  }
}

void nb::nameInstructions(llvm::Module &module, ModuleOp program, ArrayRef<std::string> names,
                          bool keepLines) {
  for (auto function : program.getOps<LLVM::LLVMFuncOp>())
    if (llvm::Function *translated = module.getFunction(function.getName()))
      namePhis(function, *translated);
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      const llvm::DebugLoc &place = instruction.getDebugLoc();
      const unsigned line = place ? place.getLine() : 0;
      if (line > 0 && line <= names.size() && !instruction.getType()->isVoidTy())
        instruction.setName(names[line - 1]);
    }
  if (!keepLines)
    llvm::StripDebugInfo(module);
}
