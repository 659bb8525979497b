#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
ParseResult parseInterpolation(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  auto interpolation = symbolizeInterpolation(keyword);
  if (!interpolation)
    return parser.emitError(loc) << "expected 'nearest' or 'tricubic', but got '" << keyword << "'";
  result.addAttribute("interpolation", InterpolationAttr::get(parser.getContext(), *interpolation));
  return success();
}

/// Optional keyword in front of the grid: the unit attribute `integral`.
void parseIntegral(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalKeyword("integral")))
    result.addAttribute("integral", parser.getBuilder().getUnitAttr());
}

/// Optional `order [i, j, k]`.
ParseResult parseOrder(OpAsmParser &parser, OperationState &result) {
  if (failed(parser.parseOptionalKeyword("order")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  auto order = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, {}));
  if (!order)
    return parser.emitError(loc, "expected three numbers in brackets");
  result.addAttribute("order", order);
  return success();
}

bool isDifferentiated(ArrayRef<int64_t> order) {
  return llvm::any_of(order, [](int64_t n) { return n != 0; });
}

void printOrder(OpAsmPrinter &p, DenseI64ArrayAttr order) {
  if (!isDifferentiated(order))
    return;
  p << " order ";
  order.print(p);
}

template <typename GridOp>
void printGridAccess(OpAsmPrinter &p, GridOp op) {
  p << ' ' << stringifyInterpolation(op.getInterpolation());
  if (op.getIntegral())
    p << " integral";
  p << ' ' << op.getGrid() << '[' << op.getHkl() << ']';
}

/// C3 of structure_factor and scatter_factor.
template <typename GridOp>
LogicalResult verifyOrder(GridOp op) {
  ArrayRef<int64_t> order = op.getOrder();
  if (order.size() != 3 || llvm::any_of(order, [](int64_t n) { return n < 0 || n > 3; }))
    return op.emitOpError("order must be three numbers from 0 to 3, but got [") << order << "]";
  if (isDifferentiated(order) && op.getInterpolation() != Interpolation::tricubic)
    return op.emitOpError("'order' needs 'tricubic': the derivative of 'nearest' is 0");
  return success();
}

/// C2 of in_grid, structure_factor and scatter_factor.
template <typename GridOp>
LogicalResult verifyIntegral(GridOp op) {
  if (op.getIntegral() && op.getInterpolation() != Interpolation::nearest)
    return op.emitOpError("'integral' needs 'nearest': interpolation takes fractional indices");
  return success();
}
} // namespace

//===----------------------------------------------------------------------===//
// nb.in_grid, nb.structure_factor
//===----------------------------------------------------------------------===//

ParseResult InGridOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand grid, hkl;
  Type gridType, hklType;
  if (parseInterpolation(parser, result))
    return failure();
  parseIntegral(parser, result);
  if (parser.parseOperand(grid) || parser.parseLSquare() || parser.parseOperand(hkl) ||
      parser.parseRSquare() || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(gridType) || parser.parseComma() || parser.parseType(hklType))
    return failure();
  result.addTypes(conditionTypeFor(hklType));
  return failure(parser.resolveOperand(grid, gridType, result.operands) ||
                 parser.resolveOperand(hkl, hklType, result.operands));
}

void InGridOp::print(OpAsmPrinter &p) {
  printGridAccess(p, *this);
  p.printOptionalAttrDict((*this)->getAttrs(), {"interpolation", "integral"});
  p << " : " << getGrid().getType() << ", " << getHkl().getType();
}

LogicalResult InGridOp::verify() {
  Type expected = conditionTypeFor(getHkl().getType());
  if (getType() != expected) // C1
    return emitOpError("result must be ") << expected << ", but got " << getType();
  return verifyIntegral(*this);
}

ParseResult StructureFactorOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand grid, hkl;
  SmallVector<OpAsmParser::UnresolvedOperand, 1> defaultValue;
  Type gridType, hklType;
  if (parseInterpolation(parser, result))
    return failure();
  parseIntegral(parser, result);
  if (parser.parseOperand(grid) || parser.parseLSquare() || parser.parseOperand(hkl) ||
      parser.parseRSquare())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("default")) &&
      parser.parseOperand(defaultValue.emplace_back()))
    return failure();
  if (parseOrder(parser, result) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(gridType) || parser.parseComma() || parser.parseType(hklType))
    return failure();
  Type element = elementTypeOf(hklType);
  if (parseNarrowerResult(parser, element))
    return failure();
  result.addTypes(element);
  return failure(parser.resolveOperand(grid, gridType, result.operands) ||
                 parser.resolveOperand(hkl, hklType, result.operands) ||
                 parser.resolveOperands(defaultValue, element, result.operands));
}

void StructureFactorOp::print(OpAsmPrinter &p) {
  printGridAccess(p, *this);
  if (Value value = getDefaultValue())
    p << " default " << value;
  printOrder(p, getOrderAttr());
  p.printOptionalAttrDict((*this)->getAttrs(), {"interpolation", "integral", "order"});
  p << " : " << getGrid().getType() << ", " << getHkl().getType();
  printNarrowerResult(p, getType(), getHkl().getType());
}

LogicalResult StructureFactorOp::verify() {
  Type element = elementTypeOf(getHkl().getType());
  if (!isElementOrSingle(getType(), getHkl().getType())) // C1
    return emitOpError("result must be ")
           << element << " or f32 in its lanes, but got " << getType();
  if (getDefaultValue() && getDefaultValue().getType() != getType())
    return emitOpError("default must be ")
           << getType() << ", but got " << getDefaultValue().getType();
  if (getDefaultValue() && isDifferentiated(getOrder())) // C3
    return emitOpError("'order' needs an op without 'default'");
  if (failed(verifyOrder(*this)))
    return failure();
  return verifyIntegral(*this);
}

//===----------------------------------------------------------------------===//
// nb.scatter_factor
//===----------------------------------------------------------------------===//

ParseResult ScatterFactorOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand value, hkl, like;
  Type gridType, hklType;
  if (parseInterpolation(parser, result))
    return failure();
  parseIntegral(parser, result);
  if (parser.parseOperand(value) || parser.parseKeyword("at") || parser.parseLSquare() ||
      parser.parseOperand(hkl) || parser.parseRSquare() || parser.parseKeyword("like") ||
      parser.parseOperand(like) || parseOrder(parser, result) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(gridType) ||
      parser.parseComma() || parser.parseType(hklType))
    return failure();
  result.addTypes(gridType);
  return failure(parser.resolveOperand(value, elementTypeOf(hklType), result.operands) ||
                 parser.resolveOperand(hkl, hklType, result.operands) ||
                 parser.resolveOperand(like, gridType, result.operands));
}

void ScatterFactorOp::print(OpAsmPrinter &p) {
  p << ' ' << stringifyInterpolation(getInterpolation());
  if (getIntegral())
    p << " integral";
  p << ' ' << getValue() << " at [" << getHkl() << "] like " << getLike();
  printOrder(p, getOrderAttr());
  p.printOptionalAttrDict((*this)->getAttrs(), {"interpolation", "integral", "order"});
  p << " : " << getLike().getType() << ", " << getHkl().getType();
}

LogicalResult ScatterFactorOp::verify() {
  Type element = elementTypeOf(getHkl().getType());
  if (getValue().getType() != element) // C1
    return emitOpError("value must be ") << element << ", but got " << getValue().getType();
  if (getType() != getLike().getType())
    return emitOpError("result must be ") << getLike().getType() << ", but got " << getType();
  if (failed(verifyIntegral(*this)) || failed(verifyOrder(*this)))
    return failure();
  return verifySummand(*this); // C4
}
