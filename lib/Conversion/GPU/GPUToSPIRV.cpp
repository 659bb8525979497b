#include "lib/Conversion/GPU/DeviceToLLVM.h"
#include "lib/Conversion/GPU/GlobalMemory.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Conversion/GPUToLLVMSPV/GPUToLLVMSPVPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-gpu-to-spirv"

namespace mlir::nb {
#define GEN_PASS_DEF_GPUTOSPIRV
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

/// Writes the sum in place of what was read, again where another thread has written in between.
static void expandAddition(LLVM::AtomicRMWOp add) {
  OpBuilder b(add);
  Location loc = add.getLoc();
  Type bits = b.getIntegerType(add.getType().getIntOrFloatBitWidth());
  Block *before = add->getBlock();
  Block *after = before->splitBlock(add);
  Block *loop = b.createBlock(after, bits, loc);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange(LLVM::LoadOp::create(b, loc, bits, add.getPtr())), loop);
  b.setInsertionPointToEnd(loop);
  Value read = loop->getArgument(0);
  Value old = LLVM::BitcastOp::create(b, loc, add.getType(), read);
  Value sum = LLVM::FAddOp::create(b, loc, old, add.getVal());
  Value pair = LLVM::AtomicCmpXchgOp::create(
      b, loc, add.getPtr(), read, LLVM::BitcastOp::create(b, loc, bits, sum),
      LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic);
  Value found = LLVM::ExtractValueOp::create(b, loc, pair, 0);
  Value written = LLVM::ExtractValueOp::create(b, loc, pair, 1);
  LLVM::CondBrOp::create(b, loc, written, after, ValueRange(), loop, ValueRange(found));
  add.replaceAllUsesWith(old);
  add.erase();
}

namespace {
struct GPUToSPIRVPass : nb::impl::GPUToSPIRVBase<GPUToSPIRVPass> {
  using GPUToSPIRVBase::GPUToSPIRVBase;

  void runOnOperation() override {
    MLIRContext &context = getContext();
    forgetGridSize(getOperation());
    // Kernels keep it when they are converted, and exchanges between threads ask for it.
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      kernel->setAttr("intel_reqd_sub_group_size",
                      Builder(&context).getI32IntegerAttr(int32_t(warp)));
    LLVMTypeConverter converter(&context);
    populateGpuMemorySpaceAttributeConversions(converter);

    RewritePatternSet patterns(&context);
    populateGpuToLLVMSPVConversionPatterns(converter, patterns);
    populateDeviceToLLVMPatterns(converter, patterns);

    ConversionTarget target(context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addLegalOp<gpu::GPUModuleOp, UnrealizedConversionCastOp>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    SmallVector<LLVM::AtomicRMWOp> additions;
    getOperation().walk([&](LLVM::AtomicRMWOp op) {
      if (op.getBinOp() == LLVM::AtomicBinOp::fadd)
        additions.push_back(op);
    });
    LDBG() << additions.size() << " addition(s) compare and exchange";
    expanded += additions.size();
    for (LLVM::AtomicRMWOp add : additions)
      expandAddition(add);
    if (failed(pointToGlobalMemory(getOperation())))
      return signalPassFailure();
    nb::remarkPassed(getOperation().getLoc(),
                     remark::RemarkOpts::name("converted").category(DEBUG_TYPE))
        << remark::add("kernels of sub-groups of {0} threads, with {1} addition(s) that compare "
                       "and exchange",
                       warp.getValue(), additions.size());
  }
};
} // namespace
