#include "dialect/NB.h"

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
