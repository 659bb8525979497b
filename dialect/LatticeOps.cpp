#include "dialect/CrystalShapes.h"
#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nb;

//===----------------------------------------------------------------------===//
// nb.lattice_factor
//===----------------------------------------------------------------------===//

ParseResult LatticeFactorOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  OpAsmParser::UnresolvedOperand hkl, ncells;
  SmallVector<OpAsmParser::UnresolvedOperand, 1> cross, fudge, reciprocal;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  auto shape = symbolizeShape(keyword);
  if (!shape) {
    const auto words = llvm::map_range(nanobragg::crystalShapes,
                                       [](const auto &row) { return StringRef(row.word); });
    return parser.emitError(loc) << "expected " << llvm::join(words, ", ") << ", but got '"
                                 << keyword << "'";
  }
  result.addAttribute("shape", ShapeAttr::get(parser.getContext(), *shape));
  if (succeeded(parser.parseOptionalKeyword("fraction")))
    result.addAttribute("fraction", parser.getBuilder().getUnitAttr());
  if (parser.parseOperand(hkl) || parser.parseComma() || parser.parseOperand(ncells))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("cross")) && parser.parseOperand(cross.emplace_back()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("fudge")) && parser.parseOperand(fudge.emplace_back()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reciprocal")) &&
      parser.parseOperand(reciprocal.emplace_back()))
    return failure();
  SMLoc typeLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  if (!isa<Vec3Type>(type))
    return parser.emitError(typeLoc, "expected an !nb.vec3 type, but got ") << type;
  Type element = elementTypeOf(type), resultType = element;
  if (parseNarrowerResult(parser, resultType))
    return failure();
  result.addTypes(resultType);
  result.addAttribute(
      "operandSegmentSizes",
      parser.getBuilder().getDenseI32ArrayAttr(
          {1, 1, int32_t(fudge.size()), int32_t(reciprocal.size()), int32_t(cross.size())}));
  return failure(parser.resolveOperands({hkl, ncells}, type, result.operands) ||
                 parser.resolveOperands(fudge, element, result.operands) ||
                 parser.resolveOperands(reciprocal, Mat3Type::get(element), result.operands) ||
                 parser.resolveOperands(cross, type, result.operands));
}

void LatticeFactorOp::print(OpAsmPrinter &p) {
  p << ' ' << stringifyShape(getShape());
  if (getFraction())
    p << " fraction";
  p << ' ' << getHkl() << ", " << getNcells();
  if (Value cross = getCross())
    p << " cross " << cross;
  if (Value fudge = getFudge())
    p << " fudge " << fudge;
  if (Value reciprocal = getReciprocal())
    p << " reciprocal " << reciprocal;
  p.printOptionalAttrDict((*this)->getAttrs(), {"shape", "fraction", "operandSegmentSizes"});
  p << " : " << getHkl().getType();
  printNarrowerResult(p, getType(), getHkl().getType());
}

LogicalResult LatticeFactorOp::verify() {
  const nanobragg::CrystalShapeRow &shape = rowOf(getShape());
  const bool hasRadius = shape.profile != nanobragg::SpotProfile::Grating;
  const auto refuse = [&](const char *why) {
    return emitOpError("'") << shape.word << "' " << why;
  };
  if (!hasRadius && getFudge()) // C1
    return refuse("takes no fudge factor");
  if (hasRadius && !getFudge())
    return refuse("needs a fudge factor");
  if (getReciprocal() && !shape.hasRadiusOfC) // C2
    return refuse("takes no reciprocal vectors");
  if (shape.hasMatrix && !getCross()) // C5
    return refuse("needs the cross widths");
  if (!shape.hasMatrix && getCross())
    return refuse("takes no cross widths");
  Type element = elementTypeOf(getHkl().getType());
  if (getCross() && getCross().getType() != getHkl().getType()) // C3
    return emitOpError("cross must be ")
           << getHkl().getType() << ", but got " << getCross().getType();
  if (getFudge() && getFudge().getType() != element) // C3
    return emitOpError("fudge must be ") << element << ", but got " << getFudge().getType();
  if (getReciprocal() && getReciprocal().getType() != Mat3Type::get(element))
    return emitOpError("reciprocal must be ")
           << Mat3Type::get(element) << ", but got " << getReciprocal().getType();
  if (!isElementOrSingle(getType(), getHkl().getType())) // C4
    return emitOpError("result must be ")
           << element << " or f32 in its lanes, but got " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// nb.grating
//===----------------------------------------------------------------------===//

LogicalResult GratingOp::verify() {
  for (ArrayRef<int64_t> orders : {getOrder(), getCells()}) // C1
    if (orders.size() != 3 || llvm::any_of(orders, [](int64_t n) { return n < 0; }))
      return emitOpError("order and cells must be three numbers from 0 on, but got [")
             << orders << "]";
  if (!isElementOrSingle(getType(), getDelta().getType())) // C2
    return emitOpError("result must be ")
           << elementTypeOf(getDelta().getType()) << " or f32 in its lanes, but got " << getType();
  return success();
}
