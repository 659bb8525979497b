#include "lib/Compiler/Run/ResultsAsImage.h"

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::nb;

/// The numbers of a result, as f64; nothing for a type that has none.
static SmallVector<Value> numbersOf(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType(), f64 = b.getF64Type();
  SmallVector<Value> parts;
  if (isa<Vec3Type>(type)) {
    for (int64_t i = 0; i < 3; ++i)
      parts.push_back(ComponentOp::create(b, loc, value, i));
  } else if (isa<Mat3Type>(type)) {
    for (int64_t i = 0; i < 9; ++i)
      parts.push_back(ElementOp::create(b, loc, value, i / 3, i % 3));
  } else {
    parts.push_back(value);
  }
  for (Value &part : parts) {
    Type element = part.getType();
    if (element.isF64())
      continue;
    if (element.isF32()) {
      part = arith::ExtFOp::create(b, loc, f64, part);
    } else if (element.isInteger(1)) {
      part = arith::UIToFPOp::create(b, loc, f64, part);
    } else if (element.isIndex()) {
      Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), part);
      part = arith::SIToFPOp::create(b, loc, f64, integer);
    } else {
      return {};
    }
  }
  return parts;
}

bool nb::returnsImage(func::FuncOp function) {
  return function.getNumResults() == 1 && isa<RankedTensorType>(function.getResultTypes()[0]);
}

llvm::Error nb::packResults(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  OpBuilder b(terminator);
  Location loc = terminator->getLoc();
  SmallVector<Value> pixels;
  for (Value result : terminator->getOperands()) {
    SmallVector<Value> numbers = numbersOf(b, loc, result);
    if (numbers.empty()) {
      if (isa<RankedTensorType>(result.getType()))
        return llvm::createStringError(
            "'" + function.getName().str() +
            "' has no nb.image outside of branches, which is what is run: choose inside the image "
            "(arith.select) and not between images");
      return llvm::createStringError("'" + function.getName().str() + "' returns a value of type " +
                                     debugString(result.getType()) +
                                     ", and kernels return f64, !nb.vec3<f64> and !nb.mat3<f64>; "
                                     "convert it to one of them, or "
                                     "interpret the program (--no-fuse)");
    }
    pixels.append(numbers);
  }
  if (pixels.empty())
    return llvm::createStringError("'" + function.getName().str() + "' returns nothing");

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value counts[] = {constant(1), constant(1), constant(int64_t(pixels.size()))};
  SmallVector<Attribute> names;
  for (Dimension dimension : {Dimension::panel, Dimension::slow, Dimension::fast})
    names.push_back(DimensionAttr::get(b.getContext(), dimension));
  constexpr int64_t unknown = ShapedType::kDynamic;
  Type type = RankedTensorType::get({unknown, unknown, unknown}, b.getF64Type());
  auto image = ImageOp::create(b, loc, TypeRange{type}, counts, ValueRange(), Value(),
                               b.getArrayAttr(names), IntegerAttr(), IntegerAttr());
  Block *body = b.createBlock(&image.getBody());
  for (unsigned i = 0; i < 3; ++i)
    body->addArgument(b.getIndexType(), loc);
  Value pixel = pixels.front();
  for (auto [i, number] : llvm::enumerate(ArrayRef(pixels).drop_front())) {
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, body->getArgument(2),
                                       constant(int64_t(i + 1)));
    pixel = arith::SelectOp::create(b, loc, here, number, pixel);
  }
  YieldOp::create(b, loc, pixel);

  terminator->setOperands(image.getResults());
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), type));
  function.removeResAttrsAttr();
  return llvm::Error::success();
}
