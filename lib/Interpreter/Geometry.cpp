#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

//===----------------------------------------------------------------------===//
// Building and taking apart
//===----------------------------------------------------------------------===//

static Vec3 vec(double x, double y, double z) { return {x, y, z}; }

static Mat3 mat(double a, double b, double c, double d, double e, double f, double g, double h,
                double i) {
  return {{{a, b, c}, {d, e, f}, {g, h, i}}};
}

static LogicalResult planComponent(ComponentOp op, Planner &planner) {
  return map(planner, op, [i = op.getIndex()](const Vec3 &v) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
  });
}

static LogicalResult planElement(ElementOp op, Planner &planner) {
  return map(planner, op,
             [i = op.getRow(), j = op.getColumn()](const Mat3 &m) { return m.at[i][j]; });
}

static LogicalResult planRow(RowOp op, Planner &planner) {
  return map(planner, op, [i = int(op.getIndex())](const Mat3 &m) { return row(m, i); });
}

/// Lanes are the pixels of a tile, so the same value in every lane is the value itself.
static LogicalResult planSplat(SplatOp op, Planner &planner) {
  planner.alias(op.getResult(), planner[op.getValue()]);
  return success();
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

/// Applies a formula to the elements of vectors or of matrices.
template <typename Op, typename Formula>
static LogicalResult planElementwise(Op op, Planner &planner, Formula formula) {
  if (isa<Mat3Type>(op.getType()))
    return map(planner, op, [formula](const Mat3 &a, const Mat3 &b) { return formula(a, b); });
  return map(planner, op, [formula](const Vec3 &a, const Vec3 &b) { return formula(a, b); });
}
static LogicalResult planAdd(AddOp op, Planner &planner) {
  // Whoever sums up tables and grids looks at what is added (Summand).
  if (isa<TableType, HklGridType>(op.getType()))
    return planner.define(op.getResult(), planner.dimsOf(op->getOperands()));
  return planElementwise(op, planner, [](const auto &a, const auto &b) { return a + b; });
}
static LogicalResult planSub(SubOp op, Planner &planner) {
  return planElementwise(op, planner, [](const auto &a, const auto &b) { return a - b; });
}
static LogicalResult planScale(ScaleOp op, Planner &planner) {
  if (isa<Mat3Type>(op.getType()))
    return map(planner, op, [](const Mat3 &m, double factor) { return m * factor; });
  return map(planner, op, [](const Vec3 &v, double factor) { return v * factor; });
}
static Vec3 vectorProduct(Vec3 a, Vec3 b) { return cross(a, b); }
static double scalarProduct(Vec3 a, Vec3 b) { return dot(a, b); }
static double length(Vec3 v) { return norm(v); }
static Vec3 normalize(Vec3 v) { return unit(v); }
static Vec3 transform(Mat3 m, Vec3 v) { return m * v; }
static Mat3 multiply(Mat3 a, Mat3 b) { return a * b; }
static Mat3 transpose(Mat3 m) { return transposed(m); }
static Mat3 outerProduct(Vec3 a, Vec3 b) { return fromRows(b * a.x, b * a.y, b * a.z); }
static double frobenius(Mat3 a, Mat3 b) {
  return dot(row(a, 0), row(b, 0)) + dot(row(a, 1), row(b, 1)) + dot(row(a, 2), row(b, 2));
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// Its columns are where the lab axes go.
static Mat3 axisRotation(Vec3 axis, double angle) {
  return transposed(fromRows(rotated({1, 0, 0}, axis, angle), rotated({0, 1, 0}, axis, angle),
                             rotated({0, 0, 1}, axis, angle)));
}

static Mat3 vectorRotation(Vec3 rotation) { return axisRotation(unit(rotation), norm(rotation)); }

/// Rz Ry Rx.
static Mat3 eulerRotation(double x, double y, double z) {
  return axisRotation({0, 0, 1}, z) * axisRotation({0, 1, 0}, y) * axisRotation({1, 0, 0}, x);
}

void evaluation::attachGeometry(MLIRContext *context) {
  evaluate<VecOp, vec>(context);
  evaluate<MatOp, mat>(context);
  evaluateBy<ComponentOp, planComponent>(context);
  evaluateBy<ElementOp, planElement>(context);
  evaluateBy<RowOp, planRow>(context);
  evaluateBy<SplatOp, planSplat>(context);
  evaluateBy<AddOp, planAdd>(context);
  evaluateBy<SubOp, planSub>(context);
  evaluate<CrossOp, vectorProduct>(context);
  evaluateBy<ScaleOp, planScale>(context);
  evaluate<DotOp, scalarProduct>(context);
  evaluate<NormOp, length>(context);
  evaluate<NormalizeOp, normalize>(context);
  evaluate<TransformOp, transform>(context);
  evaluate<MultiplyOp, multiply>(context);
  evaluate<TransposeOp, transpose>(context);
  evaluate<OuterOp, outerProduct>(context);
  evaluate<FrobeniusOp, frobenius>(context);
  evaluate<AxisRotationOp, axisRotation>(context);
  evaluate<VectorRotationOp, vectorRotation>(context);
  evaluate<EulerRotationOp, eulerRotation>(context);
}
