#include "lib/Transforms/Derivatives/DifferentiateResponse.h"

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

/// The operands that are numbers.
SmallVector<Value> numbersOf(NeighbourResponse stage) {
  return llvm::filter_to_vector(stage->getOperands(),
                                [](Value operand) { return operand.getType().isF64(); });
}

/// The stage with all pixels, and what is kept of them in an image of its own, into which stages
/// behind can be fused.
LogicalResult separate(NeighbourResponse stage) {
  OpBuilder b(stage);
  Location loc = stage.getLoc();
  Value all = stage.apply(b, stage.getImage());
  ImageOp like = imageLike(stage.getImage());
  if (!like)
    return stage.emitError("no derivative of the light of an image that is not computed by this "
                           "function");
  Value kept = overPixels(b, loc, like, stage->getResult(0).getType(), stage.getRoi(),
                          stage.getMask(), [&](ValueRange at) { return read(b, loc, all, at); });
  stage->getResult(0).replaceAllUsesWith(kept);
  stage.erase();
  return success();
}

bool isSeparate(NeighbourResponse stage) {
  return stage.getRoi().empty() && !stage.getMask() &&
         getElementTypeOrSelf(stage->getResult(0).getType()).isF64() &&
         llvm::all_of(stage->getUsers(), llvm::IsaPred<ReadPixelOp, NeighbourResponse>);
}

/// Whether it reads the pixel that its image is at.
bool readsItsOwnPixel(ReadPixelOp op) {
  auto image = op->getParentOfType<ImageOp>();
  const Value indices[] = {op.getPanel(), op.getSlow(), op.getFast()};
  return image && llvm::equal(image.getBodyBlock()->getArguments(), indices);
}
} // namespace

LogicalResult nb::separateStages(func::FuncOp func, ArrayRef<Value> parameters) {
  Activity activity(func, parameters);
  SmallVector<NeighbourResponse> stages;
  func.walk([&](NeighbourResponse stage) {
    if (activity.anyActive(stage->getResults()) && !isSeparate(stage))
      stages.push_back(stage);
  });
  for (NeighbourResponse stage : stages)
    if (failed(separate(stage)))
      return failure();
  return success();
}

LogicalResult nb::checkReads(func::FuncOp func, const Activity &activity) {
  WalkResult checked = func.walk([&](ReadPixelOp read) {
    if (!activity.isActive(read.getResult()) || readsItsOwnPixel(read))
      return WalkResult::advance();
    read.emitError("no derivative rule for 'nb.read_pixel' of another pixel than that of its "
                   "nb.image");
    return WalkResult::interrupt();
  });
  return failure(checked.wasInterrupted());
}

static FailureOr<DerivativeByNumber> derivativeOf(OpBuilder &b, NeighbourResponse stage,
                                                  Value number) {
  DerivativeByNumber by = stage.derivative(b, number);
  if (!by.image)
    return stage.emitError("'") << stage->getName()
                                << "' has no further derivative with respect to a number";
  return by;
}

FailureOr<Value> nb::stageTangent(OpBuilder &b, NeighbourResponse stage,
                                  function_ref<Value(Value)> tangentOf) {
  Location loc = stage.getLoc();
  Value ofImage = tangentOf(stage.getImage());
  if (ofImage)
    ofImage = stage.apply(b, ofImage);
  SmallVector<DerivativeByNumber> changes; // with the change of the number in the rate
  for (Value number : numbersOf(stage))
    if (Value change = tangentOf(number)) {
      FailureOr<DerivativeByNumber> by = derivativeOf(b, stage, number);
      if (failed(by))
        return failure();
      changes.push_back({by->image, arith::MulFOp::create(b, loc, by->rate, change)});
    }
  if (changes.empty())
    return ofImage;
  return overPixels(b, loc, imageLike(stage.getImage()), f64Image(b), {}, Value(),
                    [&](ValueRange at) -> Value {
                      Value sum = ofImage ? read(b, loc, ofImage, at) : Value();
                      for (auto [image, rate] : changes) {
                        Value change = arith::MulFOp::create(b, loc, rate, read(b, loc, image, at));
                        sum = sum ? arith::AddFOp::create(b, loc, sum, change).getResult() : change;
                      }
                      return sum;
                    });
}

LogicalResult nb::stageAdjoints(OpBuilder &b, NeighbourResponse stage, Value cotangent,
                                const Activity &activity, function_ref<void(Value, Value)> add) {
  Location loc = stage.getLoc();
  if (activity.isActive(stage.getImage()))
    add(stage.getImage(), stage.transpose(b, cotangent));
  for (Value number : numbersOf(stage)) {
    if (!activity.isActive(number))
      continue;
    FailureOr<DerivativeByNumber> by = derivativeOf(b, stage, number);
    if (failed(by))
      return failure();
    Value sum = overPixels(b, loc, imageLike(stage.getImage()), b.getF64Type(), {}, Value(),
                           [&](ValueRange at) -> Value {
                             return arith::MulFOp::create(b, loc, read(b, loc, cotangent, at),
                                                          read(b, loc, by->image, at));
                           });
    add(number, arith::MulFOp::create(b, loc, sum, by->rate));
  }
  return success();
}
