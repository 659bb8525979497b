#include "lib/Transforms/Invariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nb;

unsigned nb::scalarsIn(Type type) { return isa<Mat3Type>(type) ? 9 : isa<Vec3Type>(type) ? 3 : 1; }

unsigned nb::costOf(Operation *op) {
  constexpr unsigned function = 30, iterations = 10;
  if (op->getNumRegions() != 0) {
    unsigned body = 0;
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        body += costOf(&nested);
    return isa<LoopOp>(op) ? iterations * body : body;
  }
  if (matchPattern(op, m_Constant()) || op->hasTrait<OpTrait::IsTerminator>())
    return 0;
  return TypeSwitch<Operation *, unsigned>(op)
      // Picking values apart and putting them together costs nothing in registers.
      .Case<VecOp, ComponentOp, MatOp, ElementOp, RowOp, SplatOp, TransposeOp, arith::IndexCastOp,
            arith::ExtFOp>([](auto) { return 0u; })
      .Case([](LookupOp lookup) { return scalarsIn(lookup.getType()); })
      .Case([](ScatterOp scatter) { return 2 * scalarsIn(scatter.getValue().getType()); })
      .Case<ReadPixelOp>([](auto) { return 1u; })
      .Case([](IntensityOp intensity) {
        return matchPattern(intensity.getStructureFactor(), m_OneFloat()) ? 1u : 2u;
      })
      .Case<AddOp, SubOp, ScaleOp>([](auto sum) { return scalarsIn(sum->getResult(0).getType()); })
      .Case<DotOp, DetectorCoordinateOp>([](auto) { return 5u; })
      .Case<CrossOp, ScatteringVectorOp, PixelPositionOp, OuterOp>([](auto) { return 9u; })
      .Case<TransformOp, MillerIndexOp, FrobeniusOp>([](auto) { return 15u; })
      .Case<MultiplyOp>([](auto) { return 45u; })
      .Case<arith::DivFOp>([](auto) { return 8u; })
      .Default([](Operation *other) {
        return isa<arith::ArithDialect>(other->getDialect()) ? 1u : function;
      });
}

std::string nb::dimensionNames(ArrayRef<Dimension> dimensions) {
  std::string names;
  for (Dimension dimension : dimensions)
    names += (names.empty() ? "" : " x ") + stringifyDimension(dimension).str();
  return names;
}
