#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

/// The axes of the crystal's frame as rows, in the lab, before the spindle turns: x along a*, z
/// along c. It is the frame of nb.reciprocal_cell, so that without a missetting it is the lab's.
Value Emitter::crystalFrame() {
  Value rows = op<TransposeOp>("reciprocal_rows", unrotatedReciprocal());
  Value aStar = op<RowOp>("a_star", rows, 0), bStar = op<RowOp>("b_star", rows, 1);
  Value x = op<NormalizeOp>("crystal_x", aStar);
  Value z = op<NormalizeOp>("crystal_z", op<CrossOp>("c_direction", aStar, bStar));
  Value y = op<CrossOp>("crystal_y", z, x);
  SmallVector<Value> elements;
  for (Value row : {x, y, z})
    for (int64_t i = 0; i < 3; ++i)
      elements.push_back(op<ComponentOp>("element", row, i));
  return op<MatOp>("crystal_frame", Mat3Type::get(b.getF64Type()), elements);
}

/// From the crystal's frame to the lab, before the spindle turns.
Value Emitter::fromCrystalFrame(StringRef name, Value vector) {
  return op<TransformOp>(name, op<TransposeOp>("crystal_frame_t", crystalFrame()), vector);
}

/// Rotation angles of a domain of an ellipsoid, in the lab, before the spindle turns.
Value Emitter::ellipsoidRotation(Value deviates) {
  Value spreads = param("mosaic_abc");
  SmallVector<Value, 3> angles;
  for (int64_t i = 0; i < 3; ++i)
    angles.push_back(mul("mosaic_angle", op<ComponentOp>("deviate", deviates, i),
                         op<ComponentOp>("spread", spreads, i)));
  return fromCrystalFrame("mosaic_angles",
                          op<VecOp>("mosaic_angles", angles[0], angles[1], angles[2]));
}

/// The rotation of a mosaic domain. Where the axes are in the lab it comes after the spindle's;
/// where they are the crystal's it comes first.
Value Emitter::crystalRotation(const SampleIndices &at, Value spindle) {
  Value axis = lookup("mosaic_axis", "mosaic_axis", at.mosaic);
  Value unit = lookup("mosaic_angle", "mosaic_unit_angle", at.mosaic);
  if (variant.mosaicity == nanobragg::Mosaicity::Ellipsoid) {
    Value deviates = op<ScaleOp>("mosaic_deviates", axis, unit);
    Value domain = op<VectorRotationOp>("mosaic_rotation", ellipsoidRotation(deviates));
    return op<MultiplyOp>("crystal_rotation", spindle, domain);
  }
  const bool ofCrystal = variant.mosaicity == nanobragg::Mosaicity::CrystalBall;
  if (ofCrystal)
    axis = fromCrystalFrame("mosaic_axis", axis);
  Value angle = mul("mosaic_angle", param("mosaic_spread"), unit);
  Value domain = op<AxisRotationOp>("mosaic_rotation", axis, angle);
  return ofCrystal ? op<MultiplyOp>("crystal_rotation", spindle, domain)
                   : op<MultiplyOp>("crystal_rotation", domain, spindle);
}

/// Diffuse scattering at a Miller index, over the squared structure factor: of all cells, by the
/// nearest reflection, averaged over the Laue group.
Value Emitter::diffuseScattering(Value hkl) {
  Value nearest = op<NearestMillerIndexOp>("hkl0", hkl);
  Value distance = op<SubOp>("hkl_distance", hkl, nearest);
  Value reciprocal = op<MultiplyOp>("crystal_reciprocal", crystalFrame(), unrotatedReciprocal());
  Value total =
      sum("diffuse", {{Dimension::symmetry, param("symmetry_operators")}}, [&](ValueRange iv) {
        Value h = lookup("symmetry_h", "symmetry_h", iv[0]);
        Value k = lookup("symmetry_k", "symmetry_k", iv[0]);
        Value l = lookup("symmetry_l", "symmetry_l", iv[0]);
        auto turned = [&](StringRef name, Value index) {
          Value image = op<VecOp>(name, op<DotOp>("h", h, index), op<DotOp>("k", k, index),
                                  op<DotOp>("l", l, index));
          return op<TransformOp>(name, reciprocal, image);
        };
        return op<DiffuseFactorOp>("diffuse", b.getF64Type(), turned("reflection", nearest),
                                   turned("distance", distance), param("diffuse_gamma"),
                                   param("diffuse_sigma"));
      });
  Value direct = unrotatedDirect();
  Value a = op<RowOp>("a", direct, 0), bb = op<RowOp>("b", direct, 1),
        c = op<RowOp>("c", direct, 2);
  Value volume = op<DotOp>("volume", a, op<CrossOp>("b_x_c", bb, c));
  Value cells = mul("cells", mul("cells", param("ncells_a"), param("ncells_b")), param("ncells_c"));
  Value operators = toFloat("symmetry_operators", param("symmetry_operators"));
  return mul("diffuse", total, div("scale", div("scale", cells, volume), operators));
}
