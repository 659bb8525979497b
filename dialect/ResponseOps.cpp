#include "dialect/NB.h"

#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

#include "dialect/Response.cpp.inc"

static LogicalResult verifyResponse(Operation *op, Type image, Type result) {
  for (Type type : {image, result}) { // C1
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() != 3 || tensor.getNumDynamicDims() != 3 ||
        !isa<Float32Type, Float64Type>(tensor.getElementType()))
      return op->emitOpError("image and result must be rank-3 tensors of unknown sizes, of f64 or "
                             "f32, but got ")
             << tensor;
  }
  return success();
}

LogicalResult GainOp::verify() { return verifyResponse(*this, getImage().getType(), getType()); }

Value GainOp::pixelValue(OpBuilder &builder, Value pixel, ValueRange) {
  return arith::MulFOp::create(builder, getLoc(), pixel, getGain());
}

LogicalResult GainMapOp::verify() { return verifyResponse(*this, getImage().getType(), getType()); }

Value GainMapOp::pixelValue(OpBuilder &builder, Value pixel, ValueRange indices) {
  Value gain = ReadPixelOp::create(builder, getLoc(), pixel.getType(), getMap(), indices[0],
                                   indices[1], indices[2]);
  return arith::MulFOp::create(builder, getLoc(), pixel, gain);
}

LogicalResult CountingLossOp::verify() {
  return verifyResponse(*this, getImage().getType(), getType());
}

Value CountingLossOp::pixelValue(OpBuilder &builder, Value pixel, ValueRange) {
  RuleBuilder r(builder, getLoc());
  Value missed = r.div(r.mul(pixel, getDeadTime()), getExposure());
  return r.mul(pixel, r.exp(r.neg(missed)));
}

/// Another image spread with the same numbers.
static Value spreadOf(OpBuilder &b, PointSpreadOp op, Value image, unsigned order) {
  auto type = RankedTensorType::get(SmallVector<int64_t>(3, ShapedType::kDynamic), b.getF64Type());
  return PointSpreadOp::create(b, op.getLoc(), type, op.getKind(), image, op.getFwhm(),
                               op.getPixelSize(), op.getRadius(), ValueRange(), Value(), order);
}

Value PointSpreadOp::apply(OpBuilder &builder, Value image) {
  return spreadOf(builder, *this, image, getOrder());
}

/// Shares depend on distances alone.
Value PointSpreadOp::transpose(OpBuilder &builder, Value image) {
  return spreadOf(builder, *this, image, getOrder());
}

/// By the width in pixels, fwhm / pixel_size, and that by its numbers.
DerivativeByNumber PointSpreadOp::derivative(OpBuilder &builder, Value number) {
  if (getOrder() == 2)
    return {};
  RuleBuilder r(builder, getLoc());
  Value rate;
  if (number == getFwhm())
    rate = r.reciprocal(getPixelSize());
  if (number == getPixelSize()) {
    Value ofPixel = r.div(r.div(getFwhm(), getPixelSize()), getPixelSize());
    rate = rate ? r.sub(rate, ofPixel) : r.neg(ofPixel);
  }
  return {spreadOf(builder, *this, getImage(), getOrder() + 1), rate};
}

LogicalResult PointSpreadOp::verify() {
  if (failed(verifyResponse(*this, getImage().getType(), getType()))) // C1
    return failure();
  if (!getRoi().empty() && getRoi().size() != 4) // C2
    return emitOpError("roi must have four bounds: fast_min, fast_max, slow_min, slow_max; got ")
           << getRoi().size();
  if (Value mask = getMask()) { // C3
    auto tensor = cast<RankedTensorType>(mask.getType());
    if (tensor.getRank() != 3 || !tensor.getElementType().isInteger(8))
      return emitOpError("mask must be a rank-3 tensor of i8, but got ") << tensor;
  }
  if (getOrder() > 2) // C4
    return emitOpError("order must be 0, 1 or 2, but got ") << int64_t(getOrder());
  return success();
}
