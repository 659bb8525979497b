#include "lib/Transforms/Averages/CurvedPixel.h"

#include "lib/Transforms/Invariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nb;

bool nb::dependsOnMore(Value value, ImageOp image, ValueRange allowed) {
  if (!isDefinedIn(value, image) || llvm::is_contained(allowed, value))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions() != 0)
    return true;
  return llvm::any_of(op->getOperands(), [&](Value v) { return dependsOnMore(v, image, allowed); });
}

namespace {
/// Reads the degree of values in the coordinates of a pixel, and finds these.
class DegreeReader {
public:
  DegreeReader(ImageOp image, CurvedPixel &pixel)
      : image(image), panel(image.getInductionVars().front()), pixel(pixel) {}

  /// 0, 1, or none: not a polynomial of so low a degree.
  std::optional<int> degreeOf(Value value) {
    if (!dependsOnMore(value, image, panel))
      return 0;
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (auto coordinate = dyn_cast<DetectorCoordinateOp>(op))
      return takeCoordinate(coordinate);
    if (isa<arith::AddFOp, arith::SubFOp>(op))
      return largest({op->getOperand(0), op->getOperand(1)});
    if (isa<arith::NegFOp>(op))
      return degreeOf(op->getOperand(0));
    if (isa<arith::MulFOp, arith::DivFOp>(op)) {
      auto first = degreeOf(op->getOperand(0)), second = degreeOf(op->getOperand(1));
      if (!first || !second || *first + *second > 1 || (*second && isa<arith::DivFOp>(op)))
        return std::nullopt;
      return *first + *second;
    }
    auto component = dyn_cast<ComponentOp>(op);
    auto position =
        component ? component.getVector().getDefiningOp<PixelPositionOp>() : PixelPositionOp();
    if (position)
      return takePosition(position);
    return std::nullopt;
  }

private:
  std::optional<int> largest(ArrayRef<Value> values) {
    int most = 0;
    for (Value value : values) {
      auto degree = degreeOf(value);
      if (!degree)
        return std::nullopt;
      most = std::max(most, *degree);
    }
    return most;
  }

  /// One coordinate along each axis of the image.
  std::optional<int> takeCoordinate(DetectorCoordinateOp op) {
    auto ivs = image.getInductionVars();
    if (op.getPixel() != ivs[1] && op.getPixel() != ivs[2])
      return std::nullopt;
    DetectorCoordinateOp &known = op.getPixel() == ivs[2] ? pixel.fast : pixel.slow;
    if (known && known != op)
      return std::nullopt;
    known = op;
    return 1;
  }

  std::optional<int> takePosition(PixelPositionOp op) {
    if (!largest({op.getFast(), op.getSlow()}) || (pixel.depth && pixel.depth != op.getDepth()) ||
        llvm::any_of(
            ArrayRef<Value>{op.getOrigin(), op.getFastAxis(), op.getSlowAxis(), op.getNormal()},
            [&](Value v) { return dependsOnMore(v, image, panel); }))
      return std::nullopt;
    // One that all samples have is part of the constant.
    if (isDefinedIn(op.getDepth(), image))
      pixel.depth = op.getDepth();
    return 1;
  }

  ImageOp image;
  Value panel;
  CurvedPixel &pixel;
};
} // namespace

std::optional<CurvedPixel> nb::curvedPixelOf(Value direction, ImageOp image) {
  auto unit = direction.getDefiningOp<NormalizeOp>();
  auto point = unit ? unit.getOperand().getDefiningOp<CurvedPositionOp>() : CurvedPositionOp();
  if (!point)
    return std::nullopt;
  CurvedPixel pixel{point, {}, {}, {}};
  DegreeReader reader(image, pixel);
  if (!reader.degreeOf(point.getAboutSlow()) || !reader.degreeOf(point.getAboutFast()) ||
      !pixel.fast || !pixel.slow || pixel.fast.getPixelSize() != pixel.slow.getPixelSize() ||
      pixel.fast.getOversample() != pixel.slow.getOversample())
    return std::nullopt;
  Value panel = image.getInductionVars().front();
  for (Value value :
       {Value(point.getBeam()), Value(point.getFastAxis()), Value(point.getSlowAxis())})
    if (dependsOnMore(value, image, panel))
      return std::nullopt;
  for (Value value : {Value(pixel.fast.getPixelSize()), Value(pixel.fast.getOversample())})
    if (isDefinedIn(value, image))
      return std::nullopt;
  return pixel;
}
