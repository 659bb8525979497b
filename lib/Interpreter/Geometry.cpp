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

static Vec3 add(Vec3 a, Vec3 b) { return a + b; }
static Vec3 subtract(Vec3 a, Vec3 b) { return a - b; }
static Vec3 vectorProduct(Vec3 a, Vec3 b) { return cross(a, b); }
static Vec3 scale(Vec3 v, double factor) { return v * factor; }
static double scalarProduct(Vec3 a, Vec3 b) { return dot(a, b); }
static double length(Vec3 v) { return norm(v); }
static Vec3 normalize(Vec3 v) { return unit(v); }
static Vec3 transform(Mat3 m, Vec3 v) { return m * v; }
static Mat3 multiply(Mat3 a, Mat3 b) { return a * b; }
static Mat3 transpose(Mat3 m) { return transposed(m); }

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// Its columns are where the lab axes go.
static Mat3 axisRotation(Vec3 axis, double angle) {
  return transposed(fromRows(rotated({1, 0, 0}, axis, angle), rotated({0, 1, 0}, axis, angle),
                             rotated({0, 0, 1}, axis, angle)));
}

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
  evaluate<AddOp, add>(context);
  evaluate<SubOp, subtract>(context);
  evaluate<CrossOp, vectorProduct>(context);
  evaluate<ScaleOp, scale>(context);
  evaluate<DotOp, scalarProduct>(context);
  evaluate<NormOp, length>(context);
  evaluate<NormalizeOp, normalize>(context);
  evaluate<TransformOp, transform>(context);
  evaluate<MultiplyOp, multiply>(context);
  evaluate<TransposeOp, transpose>(context);
  evaluate<AxisRotationOp, axisRotation>(context);
  evaluate<EulerRotationOp, eulerRotation>(context);
}
