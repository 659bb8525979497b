#include "lib/Conversion/GPU/DeviceToLLVM.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

void nb::forgetGridSize(gpu::GPUModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    kernel.setKnownGridSizeAttr({});
}

LogicalResult nb::refuseFunctions(gpu::GPUModuleOp module) {
  Operation *culprit = nullptr;
  module.walk([&](Operation *op) {
    const bool always =
        isa<math::SinOp, math::CosOp, math::ExpOp, math::AcosOp, math::AsinOp, math::AtanOp,
            math::Atan2Op, math::CoshOp, math::PowFOp, math::SinhOp, math::TanOp, math::TanhOp>(op);
    const bool inDouble = isa<math::Exp2Op, math::Log10Op, math::Log2Op, math::LogOp>(op);
    if (always || (inDouble && getElementTypeOrSelf(op->getResult(0).getType()).isF64()))
      culprit = op;
    return culprit ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!culprit)
    return success();
  if (isa<math::SinOp, math::CosOp, math::ExpOp>(culprit))
    return culprit->emitError()
           << "'" << culprit->getName() << "' is a function of the math library, which a GPU has "
           << "not; with fastmath<afn> it is computed in steps of the compiler's own "
           << "(convert-nb-to-arith)";
  return culprit->emitError()
         << "'" << culprit->getName()
         << "' has no code on GPUs of NVIDIA and AMD, nor has a function that "
            "is made of it (of logarithms: cbrt, log1p, expm1, asinh, acosh, "
            "atanh); write it with sin, cos, exp, erf and sqrt, or compile for "
            "a processor or for SPIR-V";
}

void nb::populateDeviceToLLVMPatterns(const LLVMTypeConverter &converter,
                                      RewritePatternSet &patterns) {
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
}
