#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nb;

OpFoldResult ComponentOp::fold(FoldAdaptor) {
  if (auto vec = getVector().getDefiningOp<VecOp>())
    return vec->getOperand(getIndex());
  if (auto row = getVector().getDefiningOp<RowOp>())
    if (auto mat = row.getMatrix().getDefiningOp<MatOp>())
      return mat.getElements()[3 * row.getIndex() + getIndex()];
  return {};
}

OpFoldResult ElementOp::fold(FoldAdaptor) {
  if (auto mat = getMatrix().getDefiningOp<MatOp>())
    return mat.getElements()[3 * getRow() + getColumn()];
  return {};
}

OpFoldResult ScaleOp::fold(FoldAdaptor adaptor) {
  auto factor = dyn_cast_or_null<FloatAttr>(adaptor.getFactor());
  if (factor && factor.getValue().isExactlyValue(1.0))
    return getVector();
  return {};
}

ParseResult MatOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> elements;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(elements) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  if (!isa<Mat3Type>(type))
    return parser.emitError(loc, "expected an !nb.mat3 type, but got ") << type;
  result.addTypes(type);
  return parser.resolveOperands(elements, elementTypeOf(type), result.operands);
}

void MatOp::print(OpAsmPrinter &p) {
  p << ' ' << getElements();
  p.printOptionalAttrDict((*this)->getAttrs());
  p << " : " << getType();
}

LogicalResult MatOp::verify() {
  if (getElements().size() != 9) // C1
    return emitOpError("expected 9 elements, but got ") << getElements().size();
  if (getElements().front().getType() != elementTypeOf(getType()))
    return emitOpError("elements must be ")
           << elementTypeOf(getType()) << ", but are " << getElements().front().getType();
  return success();
}

LogicalResult AddOp::verify() {
  return isa<TableType, HklGridType>(getType()) ? verifySummand(*this) : success(); // C1
}

LogicalResult SplatOp::verify() {
  int64_t lanes = lanesOf(getType());
  if (lanesOf(getValue().getType()) != 0) // C1
    return emitOpError("operand must be without lanes, but got ") << getValue().getType();
  if (lanes == 0 || withLanes(getValue().getType(), lanes) != getType())
    return emitOpError("result must be ")
           << getValue().getType() << " over lanes, but got " << getType();
  return success();
}

LogicalResult DetectorCoordinateOp::verify() {
  auto index = dyn_cast<VectorType>(getPixel().getType());
  if ((index ? index.getNumElements() : 0) != lanesOf(getType())) // C1
    return emitOpError("index operands must have the lanes of the result ")
           << getType() << ", but are " << getPixel().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors and matrices that are 0 but for some elements
//===----------------------------------------------------------------------===//

static bool isZero(Value x) { return matchPattern(x, m_AnyZeroFloat()); }

/// Adds `lhs` and `rhs`, both made by `OpTy`, element by element where one of each pair is the
/// constant 0: the derivatives with respect to the elements become one vector or matrix.
template <typename OpTy>
static LogicalResult addElements(AddOp op, PatternRewriter &rewriter) {
  auto lhs = op.getLhs().getDefiningOp<OpTy>(), rhs = op.getRhs().getDefiningOp<OpTy>();
  if (!lhs || !rhs)
    return failure();
  SmallVector<Value> sums;
  for (auto [x, y] : llvm::zip(lhs->getOperands(), rhs->getOperands())) {
    if (!isZero(x) && !isZero(y))
      return failure();
    sums.push_back(isZero(x) ? y : x);
  }
  rewriter.replaceOpWithNewOp<OpTy>(op, TypeRange{op.getType()}, sums);
  return success();
}

LogicalResult AddOp::canonicalize(AddOp op, PatternRewriter &rewriter) {
  if (succeeded(addElements<VecOp>(op, rewriter)))
    return success();
  return addElements<MatOp>(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Matrices of rank one stay products of two vectors
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::canonicalize(TransposeOp op, PatternRewriter &rewriter) {
  auto outer = op.getMatrix().getDefiningOp<OuterOp>();
  if (!outer)
    return failure();
  rewriter.replaceOpWithNewOp<OuterOp>(op, outer.getRhs(), outer.getLhs());
  return success();
}

LogicalResult MultiplyOp::canonicalize(MultiplyOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  if (auto outer = op.getRhs().getDefiningOp<OuterOp>()) {
    Value left = TransformOp::create(rewriter, loc, op.getLhs(), outer.getLhs());
    rewriter.replaceOpWithNewOp<OuterOp>(op, left, outer.getRhs());
    return success();
  }
  if (auto outer = op.getLhs().getDefiningOp<OuterOp>()) {
    Value transposed = TransposeOp::create(rewriter, loc, op.getRhs());
    Value right = TransformOp::create(rewriter, loc, transposed, outer.getRhs());
    rewriter.replaceOpWithNewOp<OuterOp>(op, outer.getLhs(), right);
    return success();
  }
  return failure();
}

LogicalResult TransformOp::canonicalize(TransformOp op, PatternRewriter &rewriter) {
  auto outer = op.getMatrix().getDefiningOp<OuterOp>();
  if (!outer)
    return failure();
  Value factor = DotOp::create(rewriter, op.getLoc(), outer.getRhs(), op.getVector());
  rewriter.replaceOpWithNewOp<ScaleOp>(op, outer.getLhs(), factor);
  return success();
}

LogicalResult FrobeniusOp::canonicalize(FrobeniusOp op, PatternRewriter &rewriter) {
  auto outer = op.getLhs().getDefiningOp<OuterOp>();
  Value other = op.getRhs();
  if (!outer) {
    outer = op.getRhs().getDefiningOp<OuterOp>();
    other = op.getLhs();
  }
  if (!outer)
    return failure();
  Value image = TransformOp::create(rewriter, op.getLoc(), other, outer.getRhs());
  rewriter.replaceOpWithNewOp<DotOp>(op, outer.getLhs(), image);
  return success();
}
