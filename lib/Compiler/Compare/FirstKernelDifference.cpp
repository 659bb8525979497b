#include "lib/Compiler/Compare/FirstKernelDifference.h"

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;
using llvm::Expected;

/// The image's body, and sums in it, hold values that can take the place of the pixel.
static bool canBeReturned(Operation *op) {
  if (op->getNumResults() != 1 || !op->getLoc()->findInstanceOf<NameLoc>() ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  Type type = op->getResult(0).getType();
  if (!type.isF64() && !isa<Vec3Type>(type))
    return false;
  Operation *parent = op->getParentOp();
  while (isa<SumOp>(parent))
    parent = parent->getParentOp();
  auto image = dyn_cast<ImageOp>(parent);
  return image && image.getNumResults() == 1;
}

static SmallVector<Operation *> candidates(func::FuncOp function) {
  SmallVector<Operation *> ops;
  // A sum comes after what it adds.
  function.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (canBeReturned(op))
      ops.push_back(op);
  });
  return ops;
}

/// One number for a vector; unequal weights tell its components apart.
static Value scalarOf(OpBuilder &b, Location loc, Value value) {
  if (!isa<Vec3Type>(value.getType()))
    return value;
  Value sum;
  constexpr double weights[] = {1, 0.7, 0.4};
  for (auto [i, weight] : llvm::enumerate(weights)) {
    Value component = ComponentOp::create(b, loc, value, int64_t(i));
    Value factor = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(weight));
    Value term = arith::MulFOp::create(b, loc, component, factor);
    sum = sum ? arith::AddFOp::create(b, loc, sum, term).getResult() : term;
  }
  return sum;
}

/// The sum of `term`, which stands in the body of `sum`, over the same dimensions.
static Value sumOf(OpBuilder &b, SumOp sum, Value term) {
  b.setInsertionPointAfter(sum);
  auto copy = SumOp::create(b, sum.getLoc(), TypeRange{term.getType()}, sum.getCounts(),
                            sum.getDimensions());
  IRMapping mapping;
  sum.getBody().cloneInto(&copy.getBody(), mapping);
  copy.getYield()->setOperands(mapping.lookup(term));
  return copy.getResult(0);
}

static void eraseDeadCode(func::FuncOp function) {
  for (bool changed = true; std::exchange(changed, false);)
    function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (isOpTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
    });
}

/// Makes the function return the value of `op` at one pixel of its image.
static void returnValue(func::FuncOp function, Operation *op, Pixel pixel) {
  OpBuilder b(op);
  b.setInsertionPointAfter(op);
  Value value = scalarOf(b, op->getLoc(), op->getResult(0));
  Operation *parent = op->getParentOp();
  for (; isa<SumOp>(parent); parent = parent->getParentOp())
    value = sumOf(b, cast<SumOp>(parent), value);
  auto image = cast<ImageOp>(parent);
  YieldOp yield = image.getYield();
  b.setInsertionPoint(yield);
  if (yield->getOperand(0).getType().isF32())
    value = arith::TruncFOp::create(b, value.getLoc(), b.getF32Type(), value);
  yield->setOperands(value);

  b.setInsertionPointToStart(&function.getBody().front());
  SmallVector<Value> bounds;
  for (int64_t bound : {pixel.fast, pixel.fast, pixel.slow, pixel.slow})
    bounds.push_back(arith::ConstantIndexOp::create(b, function.getLoc(), bound));
  image.getRoiMutable().assign(bounds);
  eraseDeadCode(function);
}

static bool differ(double a, double b, double rtol) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) != std::isnan(b);
  return a != b && !(std::fabs(a - b) <= rtol * std::max(std::fabs(a), std::fabs(b)));
}

Expected<std::optional<KernelDifference>>
nb::firstKernelDifference(ModuleOp fused, StringRef name, const RunArguments &arguments,
                          Pixel pixel, double rtol, const CompileOptions &compile,
                          llvm::function_ref<llvm::Error(ModuleOp)> prepare) {
  size_t count = candidates(fused.lookupSymbol<func::FuncOp>(name)).size();
  for (size_t i = 0; i < count; ++i) {
    OwningOpRef<ModuleOp> program = fused.clone();
    auto function = program->lookupSymbol<func::FuncOp>(name);
    Operation *op = candidates(function)[i];
    KernelDifference found{op->getLoc()->findInstanceOf<NameLoc>().getName().str(),
                           op->getName().getStringRef().str(), 0, 0};
    returnValue(function, op, pixel);
    auto reference = interpretImage(function, arguments, /*threads=*/1);
    if (!reference)
      return reference.takeError();
    if (auto error = prepare(*program))
      return error;
    auto kernel = compileFunction(*program, name, /*fused=*/true, compile);
    if (!kernel)
      return kernel.takeError();
    RenderedImage image = renderImage((*kernel)->descriptor(), arguments, reference->shape);
    const auto [panels, slow, fast] = reference->shape;
    size_t at = size_t((pixel.panel * slow + pixel.slow) * fast + pixel.fast);
    found.interpreted = reference->pixels[at];
    found.compiled = image.pixels[at];
    if (differ(found.interpreted, found.compiled, rtol))
      return found;
  }
  return std::nullopt;
}

std::string KernelDifference::toString() const {
  return llvm::formatv("'{0}' ({1}), summed over its samples and components: {2:e12} interpreted, "
                       "{3:e12} compiled",
                       name, op, interpreted, compiled);
}
