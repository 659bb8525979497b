#include "lib/Transforms/Dependences.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::nb;

StringRef nb::nameOf(Location loc) {
  auto name = loc->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

std::string nb::dependenceText(unsigned mask) {
  std::string text;
  for (auto [bit, name] : {std::pair(Pixel, "pixel"), std::pair(Source, "source"),
                           std::pair(Orientation, "orientation"), std::pair(Sample, "sample")})
    if (mask & bit)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "the experiment alone" : text;
}

static unsigned dependenceOf(Dimension dimension) {
  switch (dimension) {
  case Dimension::panel:
  case Dimension::slow:
  case Dimension::fast:
    return Pixel;
  case Dimension::source:
    return Source;
  case Dimension::phi:
  case Dimension::mosaic:
    return Orientation;
  case Dimension::subslow:
  case Dimension::subfast:
  case Dimension::layer:
  case Dimension::material:
  case Dimension::symmetry:
  case Dimension::draw:
  case Dimension::reflection:
    return Sample;
  }
  llvm_unreachable("all dimensions have been named");
}

/// The dependence that a loop's variable stands for. Lowered loops are known by their names.
static unsigned dependenceOf(Operation *loop, BlockArgument variable) {
  if (auto known = dyn_cast<LoopOp>(loop))
    return dependenceOf(known.getDimension(variable.getArgNumber()));
  if (!isa<scf::ForOp>(loop))
    return 0;
  auto dimension = symbolizeDimension(nameOf(variable.getLoc()));
  return dimension ? dependenceOf(*dimension) : 0;
}

unsigned Dependences::visit(Operation *op) {
  unsigned mask = 0, own = 0;
  for (Value operand : op->getOperands())
    mask |= of(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments()) {
        const unsigned dimension = dependenceOf(op, argument);
        values[argument] = dimension ? dimension : mask;
        own |= dimension;
      }
      for (Operation &inner : block)
        mask |= visit(&inner);
    }
  // The dimensions that a sum adds up over do not matter outside of it.
  mask &= ~own;
  for (Value result : op->getResults())
    values[result] = mask;
  ops[op] = mask;
  return mask;
}
