#include "lib/Transforms/Reach/CullAverages.h"

#include "dialect/Names.h"
#include "dialect/ReachFields.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Reach/AverageReach.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::nb;

ReachOp nb::averageReachOf(ImageOp image) {
  ReachOp found;
  for (Operation &op : *image->getBlock())
    if (auto reach = dyn_cast<ReachOp>(op); reach && op.isBeforeInBlock(image))
      found = reach;
  return found;
}

bool nb::cullAverages(ImageOp image, ReachOp reach, Operation *&where, std::string &why) {
  const auto refuse = [&](Operation *op, const char *reason) {
    where = op;
    why = reason;
    return false;
  };
  SmallVector<NeighbourOp> neighbours;
  llvm::SetVector<Operation *> reflections, beams;
  image.getBody().walk([&](NeighbourOp op) { neighbours.push_back(op); });
  image.getBody().walk([&](SumOp sum) {
    for (unsigned i = 0; i != sum.getCounts().size(); ++i)
      if (sum.getDimension(i) == Dimension::reflection)
        reflections.insert(sum);
  });
  for (Operation *op : reflections) {
    auto sum = cast<SumOp>(op);
    if (sum.getCounts().size() != 1)
      return refuse(sum, "the sum over reflections has other dimensions");
    Operation *around = nullptr;
    for (Operation *outer = sum->getParentOp(); outer != image; outer = outer->getParentOp()) {
      auto loop = dyn_cast<SumOp>(outer);
      if (!loop)
        return refuse(outer, "only sums may stand between the image and the reflections");
      for (unsigned i = 0; i != loop.getCounts().size(); ++i) {
        const Dimension dimension = loop.getDimension(i);
        if (dimension != Dimension::source && dimension != Dimension::phi)
          continue;
        if (around && around != outer)
          return refuse(outer, "the loops over beams are in two sums");
        around = outer;
      }
    }
    if (!around)
      return refuse(sum, "there is no loop over beams around it");
    beams.insert(around);
  }
  for (NeighbourOp op : neighbours) {
    auto number = dyn_cast<BlockArgument>(op.getNumber());
    if (!number || !reflections.contains(number.getOwner()->getParentOp()))
      return refuse(op, "its number is not that of a sum over reflections");
  }

  OpBuilder b(image);
  Value count = countReflections(reach, b);
  for (NeighbourOp op : neighbours) {
    OpBuilder inside(op);
    auto type = cast<Vec3Type>(op.getType());
    op.getResult().replaceAllUsesWith(reflectionOf(reach, op.getNumber(), type, inside));
    op.erase();
  }
  for (Operation *op : reflections) {
    auto sum = cast<SumOp>(op);
    sum.getCountsMutable().assign(count);
    sum->setAttr(names::lit, b.getDenseI64ArrayAttr({runsOverBases}));
  }
  for (Operation *op : beams) {
    auto sum = cast<SumOp>(op);
    SmallVector<int64_t> kinds;
    for (unsigned i = 0; i != sum.getCounts().size(); ++i) {
      const Dimension dimension = sum.getDimension(i);
      kinds.push_back(dimension == Dimension::source || dimension == Dimension::phi ? runsOverBeams
                                                                                    : runsWhole);
    }
    sum->setAttr(names::lit, b.getDenseI64ArrayAttr(kinds));
  }
  image->setAttr(names::lit, b.getUnitAttr());
  return true;
}
