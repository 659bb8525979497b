#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

Ray Emitter::incidentRay(Value source) {
  if (variant.sources == nanobragg::Sources::Listed) {
    Value toSource = lookup("source_direction", "source_direction", source);
    Value lambda =
        mul("lambda", param("wavelength_scale"), lookup("lambda", "source_wavelength", source));
    // Its length is no direction; derivatives by its three numbers do not see it.
    return {op<NormalizeOp>("incident_vec", op<ScaleOp>("incident_vec", toSource, number(-1))),
            add("lambda", param("wavelength_offset"), lambda)};
  }
  Value beam = param("beam_direction"), axis = param("polarization_axis");
  const bool normal = variant.divergence == nanobragg::Divergence::Normal;
  Value hdiv =
      mul("hdiv", param(normal ? "hdiv_sigma" : "hdiv_range"), lookup("hdiv", "unit_hdiv", source));
  Value vdiv =
      mul("vdiv", param(normal ? "vdiv_sigma" : "vdiv_range"), lookup("vdiv", "unit_vdiv", source));
  Value vertical = op<NormalizeOp>("vertical", op<CrossOp>("vertical", beam, axis));
  Value tilted = op<TransformOp>("tilted", op<AxisRotationOp>("vdiv_rotation", axis, vdiv), beam);
  Value turned =
      op<TransformOp>("turned", op<AxisRotationOp>("hdiv_rotation", vertical, hdiv), tilted);
  Value shift = mul("shift", param("dispersion"), lookup("shift", "unit_dispersion", source));
  Value lambda = mul("lambda", param("wavelength"), add("relative_lambda", number(1), shift));
  return {op<NormalizeOp>("incident_vec", turned), lambda};
}
