#include "dialect/NB.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::nb;

LogicalResult nb::verifySummand(Operation *op) {
  for (Operation *user : op->getUsers()) {
    if (isa<AddOp>(user)) // which is verified itself
      continue;
    auto loop = dyn_cast<LoopOp>(user->getParentOp());
    if (!isa<YieldOp>(user) || !loop || !loop.addsUp()) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("only the nb.yield of an nb.sum or nb.image may use the result");
      diagnostic.attachNote(user->getLoc()) << "used here";
      return diagnostic;
    }
  }
  return success();
}

LogicalResult ScatterOp::verify() {
  auto table = cast<TableType>(getType());
  if (getIndices().size() != table.getRank() || getSizes().size() != table.getRank()) // C1
    return emitOpError("expected ")
           << table.getRank() << " indices and sizes for " << table << ", but got "
           << getIndices().size() << " and " << getSizes().size();
  Type value = getValue().getType();
  Type element = table.getElementType();
  int64_t lanes = lanesOf(value);
  bool isFloat = isScalarOrLanes(elementTypeOf(element));
  if (!isFloat || value != (lanes ? withLanes(element, lanes) : element)) // C2
    return emitOpError("value must be a float, vector or matrix, the table's element ")
           << element << " or lanes of it, but got " << value;
  return verifySummand(*this); // C3
}

LogicalResult ReadPixelOp::verify() {
  auto image = cast<RankedTensorType>(getImage().getType());
  if (image.getRank() != 3 || image.getNumDynamicDims() != 3 ||
      !isScalarOrLanes(image.getElementType())) // C1
    return emitOpError("image must be a rank-3 tensor of unknown sizes, of f64 or f32, but got ")
           << image;
  auto fast = dyn_cast<VectorType>(getFast().getType());
  Type expected =
      fast ? withLanes(image.getElementType(), fast.getNumElements()) : image.getElementType();
  if (getType() != expected) // C2
    return emitOpError("result must be ") << expected << ", but got " << getType();
  if (isa<VectorType>(getSlow().getType()) && getSlow().getType() != getFast().getType()) // C2
    return emitOpError("slow must have the lanes of fast, ")
           << getFast().getType() << ", but got " << getSlow().getType();
  return success();
}
