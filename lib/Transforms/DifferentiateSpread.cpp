// Light that spreads: linear in the image, and the width's derivatives are ops of the same kind.
#include "lib/Transforms/DifferentiateSpread.h"

#include "lib/Transforms/Differentiate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

ImageOp nb::imageLike(Value image) {
  while (Operation *op = image ? image.getDefiningOp() : nullptr) {
    if (auto found = dyn_cast<ImageOp>(op))
      return found;
    Value before;
    for (Value operand : op->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType())) &&
          isa<RankedTensorType>(operand.getType())) {
        before = operand;
        break;
      }
    image = before;
  }
  return {};
}

namespace {
Type f64Image(OpBuilder &b) {
  return RankedTensorType::get(SmallVector<int64_t>(3, ShapedType::kDynamic), b.getF64Type());
}

/// A loop over the pixels of `like`, all of them or those in its region; `pixel` writes its body
/// and returns the value of the pixel at the indices.
Value overPixels(OpBuilder &b, Location loc, ImageOp like, Type type, ValueRange roi, Value mask,
                 function_ref<Value(ValueRange)> pixel) {
  auto image = ImageOp::create(b, loc, TypeRange{type}, like.getCounts(), roi, mask,
                               like.getDimensions(), IntegerAttr(), IntegerAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&image.getBody());
  for (unsigned i = 0; i != like.getCounts().size(); ++i)
    body->addArgument(b.getIndexType(), loc);
  Value value = pixel(body->getArguments());
  Type element = isa<RankedTensorType>(type) ? getElementTypeOrSelf(type) : type;
  if (value.getType().isF64() && element.isF32())
    value = arith::TruncFOp::create(b, loc, element, value);
  YieldOp::create(b, loc, value);
  return image.getResult(0);
}

/// As f64.
Value read(OpBuilder &b, Location loc, Value image, ValueRange indices) {
  Type element = getElementTypeOrSelf(image.getType());
  Value pixel = ReadPixelOp::create(b, loc, element, image, indices[0], indices[1], indices[2]);
  return element.isF64() ? pixel : arith::ExtFOp::create(b, loc, b.getF64Type(), pixel).getResult();
}

/// Another image spread with the same numbers, in f64.
Value spreadOf(OpBuilder &b, PointSpreadOp op, Value image, unsigned order) {
  return PointSpreadOp::create(b, op.getLoc(), f64Image(b), op.getKind(), image, op.getFwhm(),
                               op.getPixelSize(), op.getRadius(), ValueRange(), Value(), order);
}

Value width(OpBuilder &b, PointSpreadOp op) {
  return arith::DivFOp::create(b, op.getLoc(), op.getFwhm(), op.getPixelSize());
}

/// The spread of all light, and what is kept of it in an image of its own, into which stages behind
/// can be fused.
LogicalResult separate(PointSpreadOp op) {
  OpBuilder b(op);
  Value all = spreadOf(b, op, op.getImage(), op.getOrder());
  ImageOp like = imageLike(op.getImage());
  if (!like)
    return op.emitError("no derivative of the light of an image that is not computed by this "
                        "function");
  Value kept = overPixels(b, op.getLoc(), like, op.getType(), op.getRoi(), op.getMask(),
                          [&](ValueRange at) { return read(b, op.getLoc(), all, at); });
  op.getResult().replaceAllUsesWith(kept);
  op.erase();
  return success();
}

bool isSeparate(PointSpreadOp op) {
  return op.getRoi().empty() && !op.getMask() && op.getType().getElementType().isF64() &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<ReadPixelOp, PointSpreadOp>);
}

/// Whether it reads the pixel that its image is at.
bool readsItsOwnPixel(ReadPixelOp op) {
  auto image = op->getParentOfType<ImageOp>();
  const Value indices[] = {op.getPanel(), op.getSlow(), op.getFast()};
  return image && llvm::equal(image.getBodyBlock()->getArguments(), indices);
}
} // namespace

LogicalResult nb::separateSpreads(func::FuncOp func, ArrayRef<Value> parameters) {
  Activity activity(func, parameters);
  SmallVector<PointSpreadOp> spreads;
  func.walk([&](PointSpreadOp op) {
    if (activity.isActive(op.getResult()) && !isSeparate(op))
      spreads.push_back(op);
  });
  for (PointSpreadOp op : spreads)
    if (failed(separate(op)))
      return failure();
  return success();
}

LogicalResult nb::checkSpreads(func::FuncOp func, const Activity &activity) {
  WalkResult checked = func.walk([&](Operation *op) {
    if (!activity.anyActive(op->getResults()))
      return WalkResult::advance();
    if (auto spread = dyn_cast<PointSpreadOp>(op);
        spread && spread.getOrder() == 2 &&
        activity.anyActive({spread.getFwhm(), spread.getPixelSize()})) {
      op->emitError("'nb.point_spread' has no third derivative by its width");
      return WalkResult::interrupt();
    }
    if (auto read = dyn_cast<ReadPixelOp>(op); read && !readsItsOwnPixel(read)) {
      op->emitError("no derivative rule for 'nb.read_pixel' of another pixel than that of its "
                    "nb.image");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(checked.wasInterrupted());
}

Value nb::spreadTangent(OpBuilder &b, PointSpreadOp op, Value image, Value fwhm, Value pixelSize) {
  Location loc = op.getLoc();
  Value ofImage = image ? spreadOf(b, op, image, op.getOrder()) : Value();
  if (!fwhm && !pixelSize)
    return ofImage;
  Value ofWidth = spreadOf(b, op, op.getImage(), op.getOrder() + 1);
  Value rate = fwhm;
  if (pixelSize) {
    Value less = arith::MulFOp::create(b, loc, width(b, op), pixelSize);
    rate = fwhm ? arith::SubFOp::create(b, loc, fwhm, less).getResult()
                : arith::NegFOp::create(b, loc, less).getResult();
  }
  rate = arith::DivFOp::create(b, loc, rate, op.getPixelSize());
  return overPixels(b, loc, imageLike(op.getImage()), f64Image(b), {}, Value(),
                    [&](ValueRange at) -> Value {
                      Value change = arith::MulFOp::create(b, loc, rate, read(b, loc, ofWidth, at));
                      if (!ofImage)
                        return change;
                      return arith::AddFOp::create(b, loc, read(b, loc, ofImage, at), change);
                    });
}

Value nb::spreadTranspose(OpBuilder &b, PointSpreadOp op, Value cotangent) {
  return spreadOf(b, op, cotangent, op.getOrder());
}

SpreadWidthAdjoint nb::spreadWidthAdjoint(OpBuilder &b, PointSpreadOp op, Value cotangent) {
  Location loc = op.getLoc();
  Value ofWidth = spreadOf(b, op, op.getImage(), op.getOrder() + 1);
  Value sum = overPixels(b, loc, imageLike(op.getImage()), b.getF64Type(), {}, Value(),
                         [&](ValueRange at) -> Value {
                           return arith::MulFOp::create(b, loc, read(b, loc, cotangent, at),
                                                        read(b, loc, ofWidth, at));
                         });
  Value fwhm = arith::DivFOp::create(b, loc, sum, op.getPixelSize());
  Value less = arith::MulFOp::create(b, loc, fwhm, width(b, op));
  return {fwhm, arith::NegFOp::create(b, loc, less)};
}
