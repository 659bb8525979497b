#include "lib/Frontend/Emitter.h"

#include "lib/Experiment/PhysicalConstants.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::nb;

/// Molecules of a material in the beam.
Value Emitter::molecules(Value material) {
  Value volume = mul("volume", lookup("thickness", "background_thickness", material),
                     param("background_area"));
  Value mass = mul("mass", volume, lookup("density", "background_density", material));
  Value moles = div("moles", mass, lookup("molar_mass", "background_molar_mass", material));
  return mul("molecules", moles, number(nanobragg::constants::avogadro));
}

/// Scattered electrons^2 times solid angle: what one source, sub-pixel, layer and material add.
Value Emitter::backgroundSample(const SampleIndices &at, Value material) {
  Value pos = position(at);
  Value diffracted = op<NormalizeOp>("diffracted_vec", pos);
  Ray incident = incidentRay(at);
  Value q =
      op<ScatteringVectorOp>("scattering_vec", diffracted, incident.direction, incident.wavelength);
  Value stol = mul("stol", op<NormOp>("scattering_norm", q), number(0.5));
  Value factor =
      op<TabulatedFactorOp>("F_background", param("background_F"), param("background_stol"),
                            lookup("first", "background_first", material),
                            lookup("last", "background_last", material), stol);
  // A negative factor takes away: of what was measured, something else may have been subtracted.
  Value value = mul("I_background", factor, op<math::AbsFOp>("F_background", factor));
  value = mul("I_background", value, molecules(material));
  value = mul("I_background", value, lookup("weight", "source_weight", at.source));
  if (variant.polarization != nanobragg::Evaluation::None)
    value = mul("I_background", value, polarization(incident, diffracted));
  if (layered())
    value =
        mul("I_background", value,
            captureFraction(at, diffracted, attenuationDepth([&] { return incident.wavelength; })));
  return mul("I_background", value, solidAngle(at, pos));
}

/// Photons. Each sample has its own corrections, whatever those of the crystal's samples are.
Value Emitter::withBackground(Value pixel, const SampleIndices &at) {
  if (!variant.background)
    return pixel;
  Value perSide = param("background_oversample");
  LoopDimensions dims;
  if (layered())
    dims.push_back({Dimension::layer, param("layers")});
  dims.append({{Dimension::subslow, perSide},
               {Dimension::subfast, perSide},
               {Dimension::source, param("sources")},
               {Dimension::material, param("materials")}});
  Value intensity = sum("I_background", dims, [&](ValueRange ivs) {
    SampleIndices sample = at;
    if (layered())
      sample.layer = ivs.front();
    ValueRange rest = ivs.take_back(4);
    sample.oversample = perSide;
    sample.subslow = rest[0];
    sample.subfast = rest[1];
    sample.source = rest[2];
    return backgroundSample(sample, rest[3]);
  });
  Value side = toFloat("background_oversample", perSide);
  Value steps = mul("background_steps", sumOfWeights(), mul("subpixels", side, side));
  Value scale =
      mul("r_e_sqr_fluence", number(nanobragg::constants::electronRadiusSquared), param("fluence"));
  return add("pixel", pixel, div("background", mul("background", scale, intensity), steps));
}
