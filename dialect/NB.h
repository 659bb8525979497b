// The nb dialect.
#ifndef NB_DIALECT_NB_H
#define NB_DIALECT_NB_H

#include "dialect/Derivatives.h"
#include "dialect/Response.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::nb {

/// How a dimension of a sum runs whose samples are not all computed (names::lit): over all of its
/// values, over those beams or over those bases that the block of pixels has light of.
enum LitDimension : int64_t { runsWhole = 0, runsOverBeams = 1, runsOverBases = 2 };

/// f64, f32, or a one-dimensional fixed vector of either.
bool isScalarOrLanes(Type type);
/// index, or a one-dimensional fixed vector of index.
bool isIndexOrLanes(Type type);
/// i1, or a one-dimensional fixed vector of i1.
bool isConditionOrLanes(Type type);
/// T of !nb.vec3<T>, !nb.mat3<T>; a scalar type itself.
Type elementTypeOf(Type type);
/// Number of lanes of a scalar, vec3 or mat3; 0 when it has none.
int64_t lanesOf(Type type);
/// i1, or a vector of i1 with the lanes of `type`.
Type conditionTypeFor(Type type);
/// `type` (scalar, index, i1, vec3 or mat3 without lanes) over `lanes` lanes.
Type withLanes(Type type, int64_t lanes);
/// `type` (scalar or lanes of floats, vec3 or mat3) with floats of another precision.
Type withPrecision(Type type, FloatType precision);
/// Is `type` the element type of `argument`, or f32 in as many lanes.
bool isElementOrSingle(Type type, Type argument);
/// `-> TYPE` behind the types of an op, printed where `type` is not the element type of `argument`.
ParseResult parseNarrowerResult(OpAsmParser &parser, Type &type);
void printNarrowerResult(OpAsmPrinter &p, Type type, Type argument);
/// The scalars and buffers that an argument of this type is passed as: see nb.parts.
SmallVector<Type> partsOf(Type type);
/// The type that the record of a kernel (names::kernel) says of its function; null where it says
/// none. It is a text there, such that tools that do not know the dialect read the program.
FunctionType typeOfKernel(DictionaryAttr record);
/// Nothing but the nb.yield of a loop that adds up uses the result of `op`.
LogicalResult verifySummand(Operation *op);

} // namespace mlir::nb

#include "dialect/NBDialect.h.inc"
#include "dialect/NBEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/NBTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/NBAttrs.h.inc"

namespace mlir::nb {
class LoopOp;
/// An nb.sum with an empty region over the loop's counts and dimensions.
Operation *createSumOver(LoopOp loop, OpBuilder &builder, TypeRange types);
} // namespace mlir::nb

#include "dialect/LoopOp.h.inc"

#define GET_OP_CLASSES
#include "dialect/NBOps.h.inc"

#endif
