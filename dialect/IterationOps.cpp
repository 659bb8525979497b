#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nb;

#include "dialect/LoopOp.cpp.inc"

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool LoopOp::hasSameDomain(LoopOp other) {
  // Dimensions and lanes are attributes, so is which operands are counts and which a region.
  return getOperation()->getName() == other->getName() &&
         getOperation()->getOperands() == other->getOperands() &&
         getOperation()->getAttrDictionary() == other->getAttrDictionary();
}

LoopOp LoopOp::takeWithResults(OpBuilder &builder, TypeRange types) {
  Operation *op = getOperation();
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(types);
  state.addAttributes(op->getAttrs());
  state.addRegion()->takeBody(getBody());
  return cast<LoopOp>(builder.create(state));
}

Operation *nb::createSumOver(LoopOp loop, OpBuilder &builder, TypeRange types) {
  return SumOp::create(builder, loop->getLoc(), types, loop.getCounts(), loop.getDimensions());
}

Operation *ImageOp::createSum(OpBuilder &builder, TypeRange types) {
  return ImageOp::create(builder, getLoc(), types, getCounts(), getRoi(), getMask(),
                         getDimensions(), getLanesAttr(), getRowsAttr());
}

//===----------------------------------------------------------------------===//
// Syntax shared by the loops: `dim %iv in %count, ...`
//===----------------------------------------------------------------------===//

namespace {
struct ParsedDimensions {
  SmallVector<OpAsmParser::Argument> inductionVars;
  SmallVector<OpAsmParser::UnresolvedOperand> counts;
};

ParseResult parseDimensions(OpAsmParser &parser, OperationState &result, ParsedDimensions &dims) {
  SmallVector<Attribute> names;
  Type index = parser.getBuilder().getIndexType();
  auto parseOne = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    auto dimension = symbolizeDimension(keyword);
    if (!dimension)
      return parser.emitError(loc) << "unknown dimension '" << keyword
                                   << "': expected panel, slow, fast, layer, subslow, subfast, "
                                      "source, phi or mosaic";
    names.push_back(DimensionAttr::get(parser.getContext(), *dimension));
    OpAsmParser::Argument &iv = dims.inductionVars.emplace_back();
    iv.type = index;
    return failure(parser.parseArgument(iv) || parser.parseKeyword("in") ||
                   parser.parseOperand(dims.counts.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  result.addAttribute("dimensions", parser.getBuilder().getArrayAttr(names));
  return parser.resolveOperands(dims.counts, index, result.operands);
}

void printDimensions(OpAsmPrinter &p, LoopOp op) {
  for (auto [i, iv, count] : llvm::enumerate(op.getInductionVars(), op.getCounts())) {
    p << (i ? ", " : " ") << stringifyDimension(op.getDimension(i)) << ' ';
    p.printRegionArgument(iv, {}, /*omitType=*/true);
    p << " in " << count;
  }
}

/// Region and result types: `: types { body }`, then attributes.
ParseResult parseTypesAndBody(OpAsmParser &parser, OperationState &result, ParsedDimensions &dims) {
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseColon() ||
      parser.parseTypeList(result.types))
    return failure();
  return parser.parseRegion(*result.addRegion(), dims.inductionVars);
}

void printTypesAndBody(OpAsmPrinter &p, LoopOp op, ArrayRef<StringRef> hidden) {
  p.printOptionalAttrDictWithKeyword(op->getAttrs(), hidden);
  p << " : ";
  llvm::interleaveComma(op->getResultTypes(), p);
  p << ' ';
  p.printRegion(op.getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult parseLoop(OpAsmParser &parser, OperationState &result) {
  ParsedDimensions dims;
  if (parseDimensions(parser, result, dims))
    return failure();
  return parseTypesAndBody(parser, result, dims);
}

void printLoop(OpAsmPrinter &p, LoopOp op) {
  printDimensions(p, op);
  printTypesAndBody(p, op, {"dimensions"});
}

/// C1 and C3 of sum, first and tabulate.
LogicalResult verifyLoop(LoopOp op) {
  size_t n = op.getDimensions().size();
  if (n == 0 || op.getCounts().size() != n || op.getInductionVars().size() != n)
    return op->emitOpError("expected one count and one index argument per dimension");
  for (BlockArgument iv : op.getInductionVars())
    if (!iv.getType().isIndex())
      return op->emitOpError("induction variables must be index, but got ") << iv.getType();
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < i; ++j)
      if (op.getDimension(i) == op.getDimension(j))
        return op->emitOpError("dimension '")
               << stringifyDimension(op.getDimension(i)) << "' appears twice";
  return success();
}

InFlightDiagnostic yieldError(Operation *op, Operation *yield) {
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic.attachNote(yield->getLoc()) << "yielded here";
  return diagnostic;
}

/// The yielded types are exactly `expected`.
LogicalResult verifyYield(Operation *op, YieldOp yield, TypeRange expected) {
  if (yield.getValues().getTypes() == expected)
    return success();
  return yieldError(op, yield) << "body must yield (" << expected << "), but yields ("
                               << yield.getValues().getTypes() << ")";
}
} // namespace

YieldOp ImageOp::getYield() { return cast<YieldOp>(getBodyBlock()->getTerminator()); }
YieldOp SumOp::getYield() { return cast<YieldOp>(getBodyBlock()->getTerminator()); }
YieldOp FirstOp::getYield() { return cast<YieldOp>(getBodyBlock()->getTerminator()); }
YieldOp TabulateOp::getYield() { return cast<YieldOp>(getBodyBlock()->getTerminator()); }

//===----------------------------------------------------------------------===//
// nb.image
//===----------------------------------------------------------------------===//

ParseResult ImageOp::parse(OpAsmParser &parser, OperationState &result) {
  ParsedDimensions dims;
  SmallVector<OpAsmParser::UnresolvedOperand> roi;
  SmallVector<OpAsmParser::UnresolvedOperand, 1> mask;
  Type maskType;
  if (parseDimensions(parser, result, dims))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("roi")) &&
      parser.parseOperandList(roi, OpAsmParser::Delimiter::Paren))
    return failure();
  if (parser.resolveOperands(roi, parser.getBuilder().getIndexType(), result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mask"))) {
    if (parser.parseLParen() || parser.parseOperand(mask.emplace_back()) ||
        parser.parseColonType(maskType) || parser.parseRParen() ||
        parser.resolveOperand(mask.front(), maskType, result.operands))
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("lanes"))) {
    int64_t lanes;
    if (parser.parseLParen() || parser.parseInteger(lanes) || parser.parseRParen())
      return failure();
    result.addAttribute("lanes", parser.getBuilder().getI64IntegerAttr(lanes));
    if (dims.inductionVars.size() == 3 && lanes > 0)
      dims.inductionVars[2].type = VectorType::get({lanes}, parser.getBuilder().getIndexType());
    if (succeeded(parser.parseOptionalKeyword("rows"))) {
      int64_t rows;
      if (parser.parseLParen() || parser.parseInteger(rows) || parser.parseRParen())
        return failure();
      result.addAttribute("rows", parser.getBuilder().getI64IntegerAttr(rows));
      if (dims.inductionVars.size() == 3)
        dims.inductionVars[1].type = dims.inductionVars[2].type;
    }
  }
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(
                                                 {int32_t(dims.counts.size()), int32_t(roi.size()),
                                                  int32_t(mask.size())}));
  return parseTypesAndBody(parser, result, dims);
}

void ImageOp::print(OpAsmPrinter &p) {
  printDimensions(p, *this);
  if (!getRoi().empty())
    p << " roi(" << getRoi() << ')';
  if (Value mask = getMask())
    p << " mask(" << mask << " : " << mask.getType() << ')';
  if (getLanes())
    p << " lanes(" << *getLanes() << ')';
  if (getRows())
    p << " rows(" << *getRows() << ')';
  printTypesAndBody(p, *this, {"dimensions", "lanes", "rows", "operandSegmentSizes"});
}

LogicalResult ImageOp::verifyRegions() {
  if (getDimensions().size() != 3 || getDimension(0) != Dimension::panel ||
      getDimension(1) != Dimension::slow || getDimension(2) != Dimension::fast) // C1
    return emitOpError("dimensions must be panel, slow, fast");
  if (getCounts().size() != 3 || getInductionVars().size() != 3) // C2
    return emitOpError("expected one count and one index argument per dimension");
  Type index = IndexType::get(getContext());
  if (getLanes() && *getLanes() <= 0)
    return emitOpError("lanes must be positive, but got ") << *getLanes();
  if (getRows() && (!getLanes() || *getRows() <= 0 || *getLanes() % *getRows() != 0))
    return emitOpError("rows must divide the lanes, but got ") << *getRows();
  for (auto [i, iv] : llvm::enumerate(getInductionVars())) {
    bool overLanes = (i == 2 && getLanes()) || (i == 1 && getRows());
    Type expected = overLanes ? withLanes(index, *getLanes()) : index;
    if (iv.getType() != expected)
      return emitOpError("induction variable of ")
             << stringifyDimension(getDimension(i)) << " must be " << expected << ", but got "
             << iv.getType();
  }
  SmallVector<Type> yielded;
  for (Type type : getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) { // a sum over the pixels
      if (lanesOf(type) != 0)
        return emitOpError("a sum over pixels has no lanes, but got ") << type;
      bool shared = !getLanes() || isa<TableType, HklGridType>(type);
      yielded.push_back(shared ? type : withLanes(type, *getLanes()));
      continue;
    }
    if (tensor.getRank() != 3 || tensor.getNumDynamicDims() != 3) // C4
      return emitOpError("result must be a rank-3 tensor of unknown sizes, but got ") << type;
    Type element = tensor.getElementType();
    yielded.push_back(getLanes() ? withLanes(element, *getLanes()) : element);
    if (!isScalarOrLanes(element))
      return emitOpError("image elements must be f64 or f32, but got ") << element;
  }
  if (!getRoi().empty() && getRoi().size() != 4) // C5
    return emitOpError("roi must have four bounds (fast_min, fast_max, slow_min, slow_max), but "
                       "got ")
           << getRoi().size();
  if (Value mask = getMask()) { // C6
    auto type = cast<RankedTensorType>(mask.getType());
    if (type.getRank() != 3 || !type.getElementType().isInteger(8))
      return emitOpError("mask must be a rank-3 tensor of i8, but got ") << type;
  }
  return verifyYield(*this, getYield(), yielded); // C3
}

//===----------------------------------------------------------------------===//
// nb.sum, nb.first, nb.tabulate
//===----------------------------------------------------------------------===//

ParseResult SumOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseLoop(parser, result);
}
void SumOp::print(OpAsmPrinter &p) { printLoop(p, *this); }
LogicalResult SumOp::verifyRegions() {
  if (failed(verifyLoop(*this)))
    return failure();
  return verifyYield(*this, getYield(), getResultTypes()); // C2
}

ParseResult FirstOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseLoop(parser, result);
}
void FirstOp::print(OpAsmPrinter &p) { printLoop(p, *this); }
LogicalResult FirstOp::verifyRegions() {
  if (failed(verifyLoop(*this)))
    return failure();
  if (getNumResults() == 0) // C4
    return emitOpError("expected at least one result");
  Type condition = conditionTypeFor(getResult(0).getType());
  for (Type type : getResultTypes())
    if (conditionTypeFor(type) != condition)
      return emitOpError("results must have the same lanes, but got (") << getResultTypes() << ")";
  SmallVector<Type> expected{condition};
  llvm::append_range(expected, getResultTypes());
  return verifyYield(*this, getYield(), expected); // C2
}

ParseResult TabulateOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseLoop(parser, result);
}
void TabulateOp::print(OpAsmPrinter &p) { printLoop(p, *this); }
LogicalResult TabulateOp::verifyRegions() {
  if (failed(verifyLoop(*this)))
    return failure();
  SmallVector<Type> expected;
  for (Type type : getResultTypes()) {
    auto table = cast<TableType>(type);
    if (table.getRank() != getDimensions().size()) // C2
      return emitOpError("result must be a table of ")
             << getDimensions().size() << " dimensions, but got " << type;
    expected.push_back(table.getElementType());
  }
  return verifyYield(*this, getYield(), expected);
}

LogicalResult LookupOp::verify() {
  unsigned rank = cast<TableType>(getTable().getType()).getRank();
  if (getIndices().size() != rank) // C1
    return emitOpError("expected ") << rank << " indices for " << getTable().getType()
                                    << ", but got " << getIndices().size();
  auto tabulate = getTable().getDefiningOp<TabulateOp>();
  for (auto [i, operand] : llvm::enumerate(getIndices())) {
    APInt index, size;
    if (!matchPattern(operand, m_ConstantInt(&index)))
      continue;
    if (index.isNegative()) // C2
      return emitOpError("reads entry ") << index.getSExtValue() << " of " << getTable().getType();
    if (tabulate && matchPattern(tabulate.getCounts()[i], m_ConstantInt(&size)) &&
        index.sge(size)) // C2
      return emitOpError("reads entry ")
             << index.getSExtValue() << " of a table that has " << size.getSExtValue();
  }
  return success();
}
