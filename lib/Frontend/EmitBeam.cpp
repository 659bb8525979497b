#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;

/// Each wavelength of a spectrum is the middle of a normal distribution.
Value Emitter::withBandwidth(Value wavelength, const SampleIndices &at) {
  if (!variant.bandwidth || !at.draw)
    return wavelength;
  Value deviate = normal("wavelength_deviate", "draw_wavelength", at);
  Value shift = mul("shift", param("bandwidth_sigma"), deviate);
  return mul("lambda", wavelength, add("relative_lambda", number(1), shift));
}

Ray Emitter::incidentRay(const SampleIndices &at) {
  Value source = at.source;
  if (variant.sources == nanobragg::Sources::Listed) {
    Value toSource = lookup("source_direction", "source_direction", source);
    Value lambda =
        mul("lambda", param("wavelength_scale"), lookup("lambda", "source_wavelength", source));
    // Its length is no direction; derivatives by its three numbers do not see it.
    return {op<NormalizeOp>("incident_vec", op<ScaleOp>("incident_vec", toSource, number(-1))),
            withBandwidth(add("lambda", param("wavelength_offset"), lambda), at)};
  }
  Value beam = param("beam_direction"), axis = param("polarization_axis");
  const bool isNormal = variant.divergence == nanobragg::Divergence::Normal;
  const auto deviation = [&](StringRef name, StringRef unit, StringRef draws) {
    Value drawn = isNormal ? normal(name, draws, at) : Value();
    return drawn ? drawn : lookup(name, unit, source);
  };
  Value hdiv = mul("hdiv", param(isNormal ? "hdiv_sigma" : "hdiv_range"),
                   deviation("hdiv", "unit_hdiv", "draw_hdiv"));
  Value vdiv = mul("vdiv", param(isNormal ? "vdiv_sigma" : "vdiv_range"),
                   deviation("vdiv", "unit_vdiv", "draw_vdiv"));
  Value vertical = op<NormalizeOp>("vertical", op<CrossOp>("vertical", beam, axis));
  Value tilted = op<TransformOp>("tilted", op<AxisRotationOp>("vdiv_rotation", axis, vdiv), beam);
  Value turned =
      op<TransformOp>("turned", op<AxisRotationOp>("hdiv_rotation", vertical, hdiv), tilted);
  Value shift = mul("shift", param("dispersion"), lookup("shift", "unit_dispersion", source));
  Value lambda = mul("lambda", param("wavelength"), add("relative_lambda", number(1), shift));
  return {op<NormalizeOp>("incident_vec", turned), withBandwidth(lambda, at)};
}
