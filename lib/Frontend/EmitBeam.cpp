#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

/// With a bandwidth, the wavelength is the middle of a normal distribution. A continuous spectrum
/// has one that is about as wide, and weightOfSpectrum() replaces it.
Value Emitter::withBandwidth(Value wavelength, const SampleIndices &at) {
  if (variant.bandwidth == nanobragg::Bandwidth::None || !at.draw)
    return wavelength;
  Value deviate = normal("wavelength_deviate", "draw_wavelength", at);
  Value shift = mul("shift", param("bandwidth_sigma"), deviate);
  return mul("lambda", wavelength, add("relative_lambda", number(1), shift));
}

/// The spectrum's density at a wavelength over that of the draws.
Value Emitter::weightOfSpectrum(Value wavelength) {
  Value nodes = toFloat("spectrum_nodes", param("spectrum_nodes"));
  Value last = sub("last_node", nodes, number(1));
  Value position = op<TablePositionOp>("spectrum_position", param("spectrum_wavelength"), number(0),
                                       last, wavelength);
  Value density = between("spectrum", entriesAround(position, nodes), [&](Value entry) {
    return entryOf("spectrum", "spectrum_density", entry);
  });
  Value nominal = param("wavelength"), sigma = param("bandwidth_sigma");
  Value shift = sub("shift", div("relative_lambda", wavelength, nominal), number(1));
  Value deviate = div("wavelength_deviate", shift, sigma);
  Value exponent = mul("exponent", number(0.5), mul("exponent", deviate, deviate));
  Value width = mul("width", mul("width", nominal, sigma), number(std::sqrt(2 * std::numbers::pi)));
  Value inverse = mul("drawn", op<math::ExpOp>("drawn", exponent), width);
  return mul("spectrum_weight", density, inverse);
}

/// Rodrigues' formula without the matrix, which only one vector has.
Value Emitter::rotated(StringRef name, Value axis, Value angle, Value vector) {
  Value along = op<ScaleOp>(name, axis, op<DotOp>(name, axis, vector));
  Value across = op<SubOp>(name, vector, along), aside = op<CrossOp>(name, axis, vector);
  Value inPlane = op<AddOp>(name, op<ScaleOp>(name, across, op<math::CosOp>(name, angle)),
                            op<ScaleOp>(name, aside, op<math::SinOp>(name, angle)));
  return op<AddOp>(name, along, inPlane);
}

Ray Emitter::incidentRay(const SampleIndices &at) {
  Value source = at.source;
  if (variant.sources == nanobragg::Sources::Listed) {
    Value toSource = lookup("source_direction", "source_direction", source);
    Value lambda =
        mul("lambda", param("wavelength_scale"), lookup("lambda", "source_wavelength", source));
    // Its length is not a direction; derivatives with respect to its three numbers do not see it.
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
  Value turned = rotated("turned", vertical, hdiv, rotated("tilted", axis, vdiv, beam));
  Value shift = mul("shift", param("dispersion"), lookup("shift", "unit_dispersion", source));
  Value lambda = mul("lambda", param("wavelength"), add("relative_lambda", number(1), shift));
  return {op<NormalizeOp>("incident_vec", turned), withBandwidth(lambda, at)};
}
