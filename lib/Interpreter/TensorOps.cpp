#include "lib/Interpreter/Map.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// Where a lane reads; -1 outside the tensor.
static int64_t elementOf(const Tensor &tensor, ArrayRef<Slot> indices, Frame &frame, int64_t lane) {
  int64_t element = 0;
  for (auto [extent, slot] : llvm::zip(tensor.shape, indices)) {
    int64_t index = frame.integers(slot)[slot.varying ? lane : 0];
    if (index < 0 || index >= extent)
      return -1;
    element = element * extent + index;
  }
  return element;
}

static LogicalResult planExtract(tensor::ExtractOp op, Planner &planner) {
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op.getResult(), dims);
  if (failed(result))
    return failure();
  Slot source = planner.slot(op.getTensor());
  SmallVector<Slot> indices;
  for (Value index : op.getIndices())
    indices.push_back(planner.slot(index));
  planner.step(op, dims, [op, out = *result, source, indices](Frame &frame) {
    const Tensor &tensor = *frame.object<const Tensor>(source);
    if (tensor.shape.size() != indices.size())
      return frame.fail(op, "'tensor.extract' op reads a tensor of unknown shape");
    for (int64_t lane = 0, lanes = frame.lanesOf(out); lane < lanes; ++lane) {
      int64_t element = elementOf(tensor, indices, frame, lane);
      if (element < 0)
        return frame.fail(op, "'tensor.extract' op reads outside the tensor");
      if (out.kind == Kind::Real)
        frame.reals(out)[lane] = tensor.get(element);
      else
        frame.integers(out)[lane] = int64_t(tensor.get(element));
    }
  });
  return success();
}

static LogicalResult planDim(tensor::DimOp op, Planner &planner) {
  if (failed(planner.requireUniform(op, op.getIndex(), "the dimension")))
    return failure();
  auto result = planner.define(op.getResult(), 0);
  if (failed(result))
    return failure();
  Slot source = planner.slot(op.getSource()), index = planner.slot(op.getIndex());
  planner.step(op, planner.dimsOf(op->getOperands()),
               [op, out = *result, source, index](Frame &frame) {
                 const Tensor &tensor = *frame.object<const Tensor>(source);
                 int64_t i = *frame.integers(index);
                 if (i < 0 || i >= int64_t(tensor.shape.size()))
                   return frame.fail(
                       op, "'tensor.dim' op asks for a dimension that the tensor does not have");
                 *frame.integers(out) = tensor.shape[i];
               });
  return success();
}

void evaluation::attachTensor(MLIRContext *context) {
  evaluateBy<tensor::ExtractOp, planExtract>(context);
  evaluateBy<tensor::DimOp, planDim>(context);
}
