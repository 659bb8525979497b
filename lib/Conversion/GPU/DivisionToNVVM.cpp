#include "lib/Conversion/GPU/DivisionToNVVM.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace {
/// Shorthands for scalars of f64.
struct Doubles {
  OpBuilder &b;
  Location loc;
  Type type = b.getF64Type();

  Value constant(double value) {
    return LLVM::ConstantOp::create(b, loc, type, b.getF64FloatAttr(value));
  }
  Value mul(Value x, Value y) { return LLVM::FMulOp::create(b, loc, x, y); }
  Value neg(Value x) { return LLVM::FNegOp::create(b, loc, x); }
  Value fma(Value x, Value y, Value z) { return LLVM::FMAOp::create(b, loc, type, x, y, z); }
  Value select(Value condition, Value x, Value y) {
    return LLVM::SelectOp::create(b, loc, condition, x, y);
  }
  Value call(StringRef intrinsic, Value x) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(intrinsic), x).getResult(0);
  }

  /// Is |x| a normal number? By its bits: the pipe of f64 has enough to do.
  Value isNormal(Value x) {
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    auto integer = [&](int32_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(value));
    };
    Value bits = LLVM::BitcastOp::create(b, loc, i64, x);
    Value width = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(32));
    Value high = LLVM::TruncOp::create(b, loc, i32, LLVM::LShrOp::create(b, loc, bits, width));
    Value exponent = LLVM::AndOp::create(b, loc, high, integer(0x7ff00000));
    Value above = LLVM::SubOp::create(b, loc, exponent, integer(0x00100000));
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, above, integer(0x7fe00000));
  }
};

/// The reciprocal's 20 bits become 60 in one step; the quotient's remainder rounds it. Where the
/// reciprocal is 0, infinite or no number, so is the quotient.
struct DivisionLowering : ConvertOpToLLVMPattern<arith::DivFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getType().isF32()) {
      rewriter.replaceOpWithNewOp<LLVM::FDivOp>(op, operands.getLhs(), operands.getRhs(),
                                                LLVM::FastmathFlags::afn);
      return success();
    }
    if (!op.getType().isF64())
      return failure();
    Doubles d{rewriter, op.getLoc()};
    Value x = operands.getLhs(), y = operands.getRhs(), minusY = d.neg(y);
    Value guess = d.call("llvm.nvvm.rcp.approx.ftz.d", y);
    Value normal = d.isNormal(guess);
    Value error = d.fma(minusY, guess, d.constant(1));
    Value better = d.fma(guess, d.fma(error, error, error), guess);
    Value reciprocal = d.select(normal, better, guess);
    Value quotient = d.mul(x, reciprocal);
    Value remainder = d.fma(minusY, quotient, x);
    Value rounded = d.fma(remainder, reciprocal, quotient);
    rewriter.replaceOp(op, d.select(normal, rounded, quotient));
    return success();
  }
};

/// x times the reciprocal of its root, made better twice. Zero, infinity and NaN are their own
/// roots.
struct RootLowering : ConvertOpToLLVMPattern<math::SqrtOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::SqrtOp op, OpAdaptor operands,
                                ConversionPatternRewriter &rewriter) const override {
    Value x = operands.getOperand();
    if (op.getType().isF32()) {
      rewriter.replaceOpWithNewOp<LLVM::SqrtOp>(op, x, LLVM::FastmathFlags::afn);
      return success();
    }
    if (!op.getType().isF64())
      return failure();
    Doubles d{rewriter, op.getLoc()};
    Value guess = d.call("llvm.nvvm.rsqrt.approx.ftz.d", x);
    Value root = d.mul(x, guess), half = d.mul(guess, d.constant(0.5));
    Value error = d.fma(d.neg(root), half, d.constant(0.5));
    root = d.fma(root, error, root);
    half = d.fma(half, error, half);
    Value remainder = d.fma(d.neg(root), root, x);
    root = d.fma(remainder, half, root);
    rewriter.replaceOp(op, d.select(d.isNormal(x), root, x));
    return success();
  }
};
} // namespace

void nb::populateDivisionToNVVMPatterns(const LLVMTypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<DivisionLowering, RootLowering>(converter, /*benefit=*/10);
}
