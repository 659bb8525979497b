#include "lib/Conversion/GPU/DeviceToLLVM.h"
#include "lib/Conversion/GPU/DivisionToNVVM.h"
#include "lib/Conversion/KernelLayout.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-gpu-to-nvvm"

namespace mlir::nb {
#define GEN_PASS_DEF_GPUTONVVM
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

/// Only threads of one warp add to one accumulator, and no thread reads it before the kernel's end.
static void relaxAdditions(gpu::GPUModuleOp module) {
  module.walk([](LLVM::AtomicRMWOp add) { add.setOrdering(LLVM::AtomicOrdering::monotonic); });
}

/// The number of blocks that any chip can hold.
constexpr int64_t mostBlocks = 32;

namespace {
struct GPUToNVVMPass : nb::impl::GPUToNVVMBase<GPUToNVVMPass> {
  using GPUToNVVMBase::GPUToNVVMBase;

  int64_t countOps() {
    int64_t count = 0;
    getOperation().walk([&](Operation *) { ++count; });
    return count;
  }

  /// Limits kernels that render; those that only add up sums have fewer parameters.
  void limitRegisters() {
    if (blocks == 0)
      return;
    Builder b(&getContext());
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (kernel.getNumArguments() >= layout::argumentsOnDevice)
        kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        b.getI32IntegerAttr(int32_t(blocks)));
  }

  void runOnOperation() override {
    if (blocks < 0 || blocks > mostBlocks) {
      emitError(getOperation()->getLoc())
          << "nb-gpu-to-nvvm: blocks is a number of blocks that a "
          << "multiprocessor can hold, at most " << mostBlocks << ", but is " << blocks.getValue();
      return signalPassFailure();
    }
    if (failed(refuseFunctions(getOperation())))
      return signalPassFailure();
    MLIRContext &context = getContext();
    forgetGridSize(getOperation());
    LLVMTypeConverter converter(&context);
    configureGpuToNVVMTypeConverter(converter);

    RewritePatternSet patterns(&context);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    populateDeviceToLLVMPatterns(converter, patterns);
    populateDivisionToNVVMPatterns(converter, patterns);

    ConversionTarget target(context);
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    target.addLegalOp<gpu::GPUModuleOp, UnrealizedConversionCastOp>();
    const int64_t before = countOps();
    LDBG() << before << " op(s) to convert";
    converted += uint64_t(before);
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    relaxAdditions(getOperation());
    limitRegisters();
    nb::remarkPassed(getOperation().getLoc(),
                     remark::RemarkOpts::name("converted").category(DEBUG_TYPE))
        << remark::add("{0} op(s) became {1} of LLVM's and NVIDIA's dialects", before, countOps());
  }
};
} // namespace
