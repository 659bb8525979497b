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
