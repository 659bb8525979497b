#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::CellSource;
using nanobragg::Rule;
using nanobragg::StructureFactors;

Value Emitter::unrotatedReciprocal() {
  Value basis;
  if (variant.cellSource == CellSource::Cell) {
    auto rule = variant.cellSetting == Rule::C ? CellRule::c : CellRule::right;
    basis = op<ReciprocalCellOp>("reciprocal_cell", rule, param("cell_a"), param("cell_b"),
                                 param("cell_c"), param("cell_alpha"), param("cell_beta"),
                                 param("cell_gamma"));
  } else {
    basis = param("reciprocal_matrix");
  }
  Value misset =
      op<EulerRotationOp>("misset", param("misset_x"), param("misset_y"), param("misset_z"));
  return op<MultiplyOp>("reciprocal_basis", misset, basis);
}

Value Emitter::unrotatedDirect() {
  // A cell and a matrix that contradict each other, or the C program's setting: lengths are the
  // cell's, whatever the reciprocal basis says.
  bool lengthsFromCell = variant.cellSource == CellSource::CellAndMatrix ||
                         (variant.cellSource == CellSource::Cell && variant.cellSetting == Rule::C);
  SmallVector<Value> lengths;
  if (lengthsFromCell)
    lengths = {param("cell_a"), param("cell_b"), param("cell_c")};
  return op<DirectCellOp>("direct_basis", unrotatedReciprocal(), lengths);
}

/// The angle at the beginning of a step; of averages, anywhere in it.
Value Emitter::phi(const SampleIndices &at) {
  Value step = mul("phi_step", param("osc"), param("phi_step_fraction"));
  Value tic = toFloat("phi_tic", at.phi);
  if (variant.sweep) {
    tic = add("phi_tic", tic, number(0.5));
    if (Value within = uniform("phi_within", "draw_phi", at))
      tic = add("phi_tic", tic, within);
  }
  return add("phi", param("phi0"), mul("phi", step, tic));
}

Value Emitter::millerIndex(const SampleIndices &at, Value q) {
  Value spindle = op<AxisRotationOp>("spindle_rotation", param("spindle_axis"), phi(at));
  Value direct = unrotatedDirect();
  const auto turned = [&](Value rotation) {
    return op<MultiplyOp>("rotated_direct", direct,
                          op<TransposeOp>("crystal_rotation_t", rotation));
  };
  if (variant.isSampled())
    return op<MillerIndexOp>("hkl", turned(crystalRotation(at, spindle)), q);
  // Each sample of an average has a rotation of its own: the scattering vector turns back.
  Value deviates = variant.mosaicity == nanobragg::Mosaicity::None
                       ? Value()
                       : normal("mosaic_deviates", "draw_rotation", at);
  if (!deviates)
    return op<MillerIndexOp>("hkl", turned(spindle), q);
  const auto turnedBack = [&](Value vector, Value rotation) {
    Value back = op<ScaleOp>("mosaic_gibbs_vec", rotation, number(-0.5));
    return op<TurnOp>("turned_scattering_vec", vector, back);
  };
  if (variant.mosaicity == nanobragg::Mosaicity::Ball) {
    Value rotation = op<ScaleOp>("mosaic_angles", deviates, param("mosaic_spread"));
    return op<MillerIndexOp>("hkl", turned(spindle), turnedBack(q, rotation));
  }
  Value before =
      op<TransformOp>("scattering_vec", op<TransposeOp>("spindle_rotation_t", spindle), q);
  return op<MillerIndexOp>("hkl", direct, turnedBack(before, ellipsoidRotation(deviates)));
}

Value Emitter::latticeFactor(Value hkl) {
  Value ncells = op<VecOp>("ncells", param("ncells_a"), param("ncells_b"), param("ncells_c"));
  const nanobragg::CrystalShapeRow &shape = rowOf(variant.shape);
  Value fudge = shape.profile == nanobragg::SpotProfile::Grating ? Value() : param("fudge");
  Value cross;
  if (shape.hasMatrix)
    cross = op<VecOp>("ncells_def", param("ncells_d"), param("ncells_e"), param("ncells_f"));
  Value reciprocal;
  if (shape.hasRadiusOfC && variant.spotMetric == Rule::C) {
    // The reciprocal basis as the C program has it at this point: V* (b x c), cyclic.
    Value direct = unrotatedDirect();
    Value a = op<RowOp>("a", direct, 0), bb = op<RowOp>("b", direct, 1),
          c = op<RowOp>("c", direct, 2);
    Value volume =
        variant.cellSource == CellSource::Matrix
            ? op<DotOp>("volume", a, op<CrossOp>("b_x_c", bb, c))
            : op<CellVolumeOp>("volume", param("cell_a"), param("cell_b"), param("cell_c"),
                               param("cell_alpha"), param("cell_beta"), param("cell_gamma"));
    Value inverse = div("reciprocal_volume", number(1), volume);
    SmallVector<Value> columns;
    for (auto [x, y] : {std::pair(bb, c), std::pair(c, a), std::pair(a, bb)})
      columns.push_back(op<ScaleOp>("reciprocal_vector", op<CrossOp>("cross", x, y), inverse));
    SmallVector<Value> elements;
    for (int64_t row = 0; row < 3; ++row)
      for (Value column : columns)
        elements.push_back(op<ComponentOp>("element", column, row));
    reciprocal = op<MatOp>("reciprocal_metric", Mat3Type::get(b.getF64Type()), elements);
  }
  return op<LatticeFactorOp>("F_latt", b.getF64Type(), *symbolizeShape(shape.word), hkl, ncells,
                             fudge, reciprocal, cross,
                             /*fraction=*/false);
}

Value Emitter::structureFactor(Value hkl) {
  if (variant.structureFactors == StructureFactors::Constant)
    return param("default_F");
  auto interpolation = variant.structureFactors == StructureFactors::Tricubic
                           ? Interpolation::tricubic
                           : Interpolation::nearest;
  return op<StructureFactorOp>("F_cell", b.getF64Type(), interpolation, param("F"), hkl,
                               param("default_F"), /*integral=*/false);
}
