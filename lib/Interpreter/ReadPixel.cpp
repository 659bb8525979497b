#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// Panels, rows and pixels of a row: the tensor's, or when the caller left them out, those of the
/// image around the op, as for a mask.
static LogicalResult planReadPixel(ReadPixelOp op, Planner &planner) {
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op.getResult(), dims);
  if (failed(result))
    return failure();
  Slot image = planner.slot(op.getImage());
  SmallVector<Slot, 3> indices, counts;
  for (Value index : op->getOperands().drop_front())
    indices.push_back(planner.slot(index));
  if (auto around = op->getParentOfType<ImageOp>())
    for (Value count : around.getCounts())
      counts.push_back(planner.slot(count));
  planner.step(op, dims, [=, out = *result](Frame &frame) {
    const Tensor &tensor = *frame.object<const Tensor>(image);
    SmallVector<int64_t> sizes = tensor.shape;
    if (sizes.empty())
      for (Slot count : counts)
        sizes.push_back(*frame.integers(count));
    if (sizes.size() != 3)
      return frame.fail(op, "'nb.read_pixel' op reads an image of unknown shape");
    for (int64_t lane = 0, lanes = frame.lanesOf(out); lane < lanes; ++lane) {
      auto index = [&](int i) { return frame.integers(indices[i])[indices[i].varying ? lane : 0]; };
      int64_t panel = index(0), slow = index(1), fast = index(2);
      if (panel < 0 || panel >= sizes[0] || slow < 0 || slow >= sizes[1] || fast < 0)
        return frame.fail(op, "'nb.read_pixel' op reads outside the image");
      frame.reals(out)[lane] =
          fast < sizes[2] ? tensor.get((panel * sizes[1] + slow) * sizes[2] + fast) : 0;
    }
  });
  return success();
}

void evaluation::attachReadPixel(MLIRContext *context) {
  evaluateBy<ReadPixelOp, planReadPixel>(context);
}
