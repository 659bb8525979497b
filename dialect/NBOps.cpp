#include "dialect/NB.h"
#include "dialect/RuleBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nb;

//===----------------------------------------------------------------------===//
// Parts of assembly formats
//===----------------------------------------------------------------------===//

/// `table`, or `lanes to table` where the value is over lanes.
static ParseResult parseScatterTypes(OpAsmParser &parser, Type &value, Type &table) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(value))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("to")))
    return parser.parseType(table);
  auto type = dyn_cast<TableType>(value);
  if (!type)
    return parser.emitError(loc, "expected an !nb.table type, but got ") << value;
  table = type;
  value = type.getElementType();
  return success();
}

static void printScatterTypes(OpAsmPrinter &p, Operation *, Type value, Type table) {
  if (value != cast<TableType>(table).getElementType())
    p << value << " to ";
  p << table;
}

/// `image`, and `to lanes` where several neighbours are read, of several rows `in rows`.
static ParseResult parsePixelTypes(OpAsmParser &parser, Type &image, Type &slow, Type &fast,
                                   Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(image))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(image);
  if (!tensor)
    return parser.emitError(loc, "expected a tensor type, but got ") << image;
  fast = slow = parser.getBuilder().getIndexType();
  result = tensor.getElementType();
  if (failed(parser.parseOptionalKeyword("to")))
    return success();
  loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  if (lanesOf(result) == 0)
    return parser.emitError(loc, "expected lanes, but got ") << result;
  fast = withLanes(fast, lanesOf(result));
  if (succeeded(parser.parseOptionalKeyword("in"))) {
    if (parser.parseKeyword("rows"))
      return failure();
    slow = fast;
  }
  return success();
}

static void printPixelTypes(OpAsmPrinter &p, Operation *, Type image, Type slow, Type,
                            Type result) {
  p << image;
  if (lanesOf(result) != 0)
    p << " to " << result;
  if (isa<VectorType>(slow))
    p << " in rows";
}

/// `image`, and `to result` where a stage changes the precision.
/// The vector's type, and the result's where it is narrower than the vector's elements.
static ParseResult parseElementOrSingle(OpAsmParser &parser, Type &vector, Type &result) {
  if (parser.parseType(vector))
    return failure();
  result = elementTypeOf(vector);
  return nb::parseNarrowerResult(parser, result);
}

static void printElementOrSingle(OpAsmPrinter &p, Operation *, Type vector, Type result) {
  p << vector;
  nb::printNarrowerResult(p, result, vector);
}

static ParseResult parseResponseTypes(OpAsmParser &parser, Type &image, Type &result) {
  if (parser.parseType(image))
    return failure();
  if (!isa<RankedTensorType>(image))
    return parser.emitError(parser.getCurrentLocation(), "expected a tensor type, but got ")
           << image;
  result = image;
  return succeeded(parser.parseOptionalKeyword("to")) ? parser.parseType(result) : success();
}

static void printResponseTypes(OpAsmPrinter &p, Operation *, Type image, Type result) {
  p << image;
  if (result != image)
    p << " to " << result;
}

#define GET_OP_CLASSES
#include "dialect/NBOps.cpp.inc"
