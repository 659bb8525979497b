#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
/// The values of all operands when every one is a float constant.
std::optional<SmallVector<double>> constants(ArrayRef<Attribute> operands) {
  SmallVector<double> values;
  for (Attribute attr : operands) {
    auto value = dyn_cast_or_null<FloatAttr>(attr);
    if (!value)
      return std::nullopt;
    values.push_back(value.getValueAsDouble());
  }
  return values;
}

OpFoldResult constant(Type type, double value) {
  return type.isF64() || type.isF32() ? OpFoldResult(FloatAttr::get(type, value)) : OpFoldResult();
}

ParseResult parseInterpolation(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  auto interpolation = symbolizeInterpolation(keyword);
  if (!interpolation)
    return parser.emitError(loc) << "expected 'nearest' or 'tricubic', but got '" << keyword
                                 << "'";
  result.addAttribute("interpolation",
                      InterpolationAttr::get(parser.getContext(), *interpolation));
  return success();
}

/// Optional keyword in front of the grid: the unit attribute `integral`.
void parseIntegral(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalKeyword("integral")))
    result.addAttribute("integral", parser.getBuilder().getUnitAttr());
}

template <typename GridOp>
void printGridAccess(OpAsmPrinter &p, GridOp op) {
  p << ' ' << stringifyInterpolation(op.getInterpolation());
  if (op.getIntegral())
    p << " integral";
  p << ' ' << op.getGrid() << '[' << op.getHkl() << ']';
}

/// C2 of in_grid and structure_factor.
template <typename GridOp>
LogicalResult verifyIntegral(GridOp op) {
  if (op.getIntegral() && op.getInterpolation() != Interpolation::nearest)
    return op.emitOpError("'integral' needs 'nearest': interpolation takes fractional indices");
  return success();
}
} // namespace

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

OpFoldResult CellVolumeOp::fold(FoldAdaptor adaptor) {
  auto v = constants(adaptor.getOperands());
  if (!v)
    return {};
  double s = ((*v)[3] + (*v)[4] + (*v)[5]) / 2;
  double root = std::sqrt(std::abs(std::sin(s) * std::sin(s - (*v)[3]) * std::sin(s - (*v)[4]) *
                                   std::sin(s - (*v)[5])));
  return constant(getType(), 2 * (*v)[0] * (*v)[1] * (*v)[2] * root);
}

OpFoldResult SincgOp::fold(FoldAdaptor adaptor) {
  auto v = constants(adaptor.getOperands());
  if (!v)
    return {};
  auto [x, n] = std::pair((*v)[0], (*v)[1]);
  double value =
      x == 0 ? n : std::sin(std::numbers::pi * n * x) / std::sin(std::numbers::pi * x);
  return constant(getType(), value);
}

OpFoldResult IntensityOp::fold(FoldAdaptor adaptor) {
  auto v = constants(adaptor.getOperands());
  return v ? constant(getType(), (*v)[0] * (*v)[0] * (*v)[1] * (*v)[1]) : OpFoldResult();
}

OpFoldResult WaterBackgroundOp::fold(FoldAdaptor adaptor) {
  auto v = constants(adaptor.getOperands());
  if (!v)
    return {};
  double size = (*v)[0];
  return constant(getType(), 2.57 * 2.57 * 7.94079248018965e-30 * (*v)[1] * size * size * size *
                                 1e6 * 6.02214179e23 / 18.0);
}

//===----------------------------------------------------------------------===//
// nb.direct_cell
//===----------------------------------------------------------------------===//

ParseResult DirectCellOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand reciprocal;
  SmallVector<OpAsmParser::UnresolvedOperand> lengths;
  Type type;
  if (parser.parseOperand(reciprocal))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("lengths")) &&
      parser.parseOperandList(lengths, OpAsmParser::Delimiter::Paren))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  result.addTypes(type);
  return failure(parser.resolveOperand(reciprocal, type, result.operands) ||
                 parser.resolveOperands(lengths, elementTypeOf(type), result.operands));
}

void DirectCellOp::print(OpAsmPrinter &p) {
  p << ' ' << getReciprocal();
  if (!getLengths().empty())
    p << " lengths(" << getLengths() << ')';
  p.printOptionalAttrDict((*this)->getAttrs());
  p << " : " << getType();
}

LogicalResult DirectCellOp::verify() {
  if (!getLengths().empty() && getLengths().size() != 3) // C1
    return emitOpError("expected the three lengths a, b, c, but got ") << getLengths().size();
  for (Value length : getLengths())
    if (length.getType() != elementTypeOf(getType()))
      return emitOpError("lengths must be ") << elementTypeOf(getType()) << ", but got "
                                             << length.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// nb.lattice_factor
//===----------------------------------------------------------------------===//

ParseResult LatticeFactorOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  OpAsmParser::UnresolvedOperand hkl, ncells;
  SmallVector<OpAsmParser::UnresolvedOperand, 1> fudge, reciprocal;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  auto shape = symbolizeShape(keyword);
  if (!shape)
    return parser.emitError(loc) << "expected 'square', 'round', 'gauss' or 'tophat', but got '"
                                 << keyword << "'";
  result.addAttribute("shape", ShapeAttr::get(parser.getContext(), *shape));
  if (succeeded(parser.parseOptionalKeyword("fraction")))
    result.addAttribute("fraction", parser.getBuilder().getUnitAttr());
  if (parser.parseOperand(hkl) || parser.parseComma() || parser.parseOperand(ncells))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("fudge")) &&
      parser.parseOperand(fudge.emplace_back()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reciprocal")) &&
      parser.parseOperand(reciprocal.emplace_back()))
    return failure();
  SMLoc typeLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  if (!isa<Vec3Type>(type))
    return parser.emitError(typeLoc, "expected an !nb.vec3 type, but got ") << type;
  Type element = elementTypeOf(type);
  result.addTypes(element);
  result.addAttribute("operandSegmentSizes",
                      parser.getBuilder().getDenseI32ArrayAttr(
                          {1, 1, int32_t(fudge.size()), int32_t(reciprocal.size())}));
  return failure(parser.resolveOperands({hkl, ncells}, type, result.operands) ||
                 parser.resolveOperands(fudge, element, result.operands) ||
                 parser.resolveOperands(reciprocal, Mat3Type::get(element), result.operands));
}

void LatticeFactorOp::print(OpAsmPrinter &p) {
  p << ' ' << stringifyShape(getShape());
  if (getFraction())
    p << " fraction";
  p << ' ' << getHkl() << ", " << getNcells();
  if (Value fudge = getFudge())
    p << " fudge " << fudge;
  if (Value reciprocal = getReciprocal())
    p << " reciprocal " << reciprocal;
  p.printOptionalAttrDict((*this)->getAttrs(), {"shape", "fraction", "operandSegmentSizes"});
  p << " : " << getHkl().getType();
}

LogicalResult LatticeFactorOp::verify() {
  bool square = getShape() == Shape::square;
  if (square && getFudge()) // C1
    return emitOpError("'square' takes no fudge factor");
  if (!square && !getFudge())
    return emitOpError("'") << stringifyShape(getShape()) << "' needs a fudge factor";
  if (getReciprocal() && getShape() != Shape::gauss && getShape() != Shape::tophat) // C2
    return emitOpError("'reciprocal' is for 'gauss' and 'tophat' only");
  Type element = elementTypeOf(getHkl().getType());
  if (getFudge() && getFudge().getType() != element) // C3
    return emitOpError("fudge must be ") << element << ", but got " << getFudge().getType();
  if (getReciprocal() && getReciprocal().getType() != Mat3Type::get(element))
    return emitOpError("reciprocal must be ") << Mat3Type::get(element) << ", but got "
                                              << getReciprocal().getType();
  return success();
}

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
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(gridType) ||
      parser.parseComma() || parser.parseType(hklType))
    return failure();
  Type element = elementTypeOf(hklType);
  result.addTypes(element);
  return failure(parser.resolveOperand(grid, gridType, result.operands) ||
                 parser.resolveOperand(hkl, hklType, result.operands) ||
                 parser.resolveOperands(defaultValue, element, result.operands));
}

void StructureFactorOp::print(OpAsmPrinter &p) {
  printGridAccess(p, *this);
  if (Value value = getDefaultValue())
    p << " default " << value;
  p.printOptionalAttrDict((*this)->getAttrs(), {"interpolation", "integral"});
  p << " : " << getGrid().getType() << ", " << getHkl().getType();
}

LogicalResult StructureFactorOp::verify() {
  Type element = elementTypeOf(getHkl().getType());
  if (getType() != element) // C1
    return emitOpError("result must be ") << element << ", but got " << getType();
  if (getDefaultValue() && getDefaultValue().getType() != element)
    return emitOpError("default must be ") << element << ", but got "
                                           << getDefaultValue().getType();
  return verifyIntegral(*this);
}
