#include "lib/Conversion/GPU/DeviceToLLVM.h"
#include "lib/Conversion/GPU/GlobalMemory.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-gpu-to-rocdl"

namespace mlir::nb {
#define GEN_PASS_DEF_GPUTOROCDL
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

/// The memory of constants, where the runtime's own arguments are.
constexpr unsigned constantMemory = 4;

namespace {
/// The number of blocks is the first 32 bits of what the runtime adds to a kernel's arguments
/// (code objects of version 5).
struct GridLowering : ConvertOpToLLVMPattern<gpu::GridDimOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(gpu::GridDimOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getDimension() != gpu::Dimension::x)
      return rewriter.notifyMatchFailure(op, "a grid has one dimension");
    Location loc = op.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(rewriter.getContext(), constantMemory);
    Value arguments = LLVM::CallIntrinsicOp::create(
                          rewriter, loc, pointer,
                          rewriter.getStringAttr("llvm.amdgcn.implicitarg.ptr"), ValueRange())
                          .getResult(0);
    Value blocks = LLVM::LoadOp::create(rewriter, loc, rewriter.getI32Type(), arguments);
    rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, getTypeConverter()->convertType(op.getType()),
                                              blocks);
    return success();
  }
};

/// Only threads of one wave add to one accumulator, which is in the device's own memory, and no
/// thread reads it before the kernel's end.
void relaxAdditionsOfAgent(gpu::GPUModuleOp module) {
  module.walk([](LLVM::AtomicRMWOp add) {
    add.setOrdering(LLVM::AtomicOrdering::monotonic);
    add.setSyncscope("agent");
    for (StringRef fact : {"rocdl.no_fine_grained_memory", "rocdl.no_remote_memory"})
      add->setAttr(fact, UnitAttr::get(add.getContext()));
  });
}

struct GPUToROCDLPass : nb::impl::GPUToROCDLBase<GPUToROCDLPass> {
  using GPUToROCDLBase::GPUToROCDLBase;

  void runOnOperation() override {
    MLIRContext &context = getContext();
    FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip);
    if (failed(chipset)) {
      emitError(getOperation()->getLoc())
          << "nb-gpu-to-rocdl: chip is one of AMD's, such as gfx942, but is '" << chip << "'";
      return signalPassFailure();
    }
    if (failed(refuseFunctions(getOperation())))
      return signalPassFailure();
    forgetGridSize(getOperation());
    LLVMTypeConverter converter(&context);
    amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);

    RewritePatternSet patterns(&context);
    populateGpuToROCDLConversionPatterns(converter, patterns, gpu::amd::Runtime::Unknown, *chipset);
    populateDeviceToLLVMPatterns(converter, patterns);
    patterns.add<GridLowering>(converter, /*benefit=*/10);

    ConversionTarget target(context);
    target.addLegalDialect<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
    target.addLegalOp<gpu::GPUModuleOp, UnrealizedConversionCastOp>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))) ||
        failed(pointToGlobalMemory(getOperation())))
      return signalPassFailure();
    relaxAdditionsOfAgent(getOperation());
    LDBG() << "a module for " << chip.getValue();
    ++converted;
    nb::remarkPassed(getOperation().getLoc(),
                     remark::RemarkOpts::name("converted").category(DEBUG_TYPE))
        << remark::add("kernels of {0}, which call no library", chip.getValue());
  }
};
} // namespace
