#include "lib/Conversion/GPU/GlobalMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

constexpr unsigned globalMemory = 1;

LogicalResult nb::pointToGlobalMemory(gpu::GPUModuleOp module) {
  WalkResult own = module.walk([](LLVM::AllocaOp op) {
    op.emitError("no pointer of this kernel leads to a thread's private memory");
    return WalkResult::interrupt();
  });
  if (own.wasInterrupted())
    return failure();
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LLVM::LLVMPointerType type) -> std::optional<Type> {
    if (type.getAddressSpace() > globalMemory)
      return std::nullopt;
    return LLVM::LLVMPointerType::get(type.getContext(), globalMemory);
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return success();
}
