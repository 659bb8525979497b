#include "dialect/NB.h"
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/PhysicalConstants.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
/// The values of all operands when every one is a float constant.
std::optional<SmallVector<double>> constantsOf(ArrayRef<Attribute> operands) {
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
} // namespace

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

OpFoldResult CellVolumeOp::fold(FoldAdaptor adaptor) {
  auto v = constantsOf(adaptor.getOperands());
  if (!v)
    return {};
  nanobragg::UnitCell cell{(*v)[0], (*v)[1], (*v)[2], (*v)[3], (*v)[4], (*v)[5]};
  return constant(getType(), cell.volume());
}

OpFoldResult SincgOp::fold(FoldAdaptor adaptor) {
  auto v = constantsOf(adaptor.getOperands());
  if (!v || getOrder() != 0 || getCells() != 0)
    return {};
  auto [x, n] = std::pair((*v)[0], (*v)[1]);
  double value = x == 0 ? n : std::sin(std::numbers::pi * n * x) / std::sin(std::numbers::pi * x);
  return constant(getType(), value);
}

OpFoldResult IntensityOp::fold(FoldAdaptor adaptor) {
  auto v = constantsOf(adaptor.getOperands());
  return v ? constant(getType(), (*v)[0] * (*v)[0] * (*v)[1] * (*v)[1]) : OpFoldResult();
}

OpFoldResult WaterBackgroundOp::fold(FoldAdaptor adaptor) {
  auto v = constantsOf(adaptor.getOperands());
  if (!v)
    return {};
  double size = (*v)[0];
  return constant(getType(), nanobragg::constants::waterScattering * (*v)[1] * size * size * size);
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
      return emitOpError("lengths must be ")
             << elementTypeOf(getType()) << ", but got " << length.getType();
  return success();
}
