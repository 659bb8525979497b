#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nb;

SmallVector<Value> Emitter::region() {
  return {param("roi_fast_min"), param("roi_fast_max"), param("roi_slow_min"),
          param("roi_slow_max")};
}

SmallVector<Value> Emitter::regionOfPhotons() {
  SmallVector<Value> bounds = region();
  if (variant.pointSpread == nanobragg::PointSpread::None)
    return bounds;
  Value radius = param("psf_radius");
  for (unsigned i : {0, 2})
    bounds[i] =
        op<arith::MaxSIOp>("first", op<arith::SubIOp>("first", bounds[i], radius), index(0));
  for (auto [i, count] : {std::pair(1, "fast_pixels"), std::pair(3, "slow_pixels")})
    bounds[i] = op<arith::MinSIOp>("last", op<arith::AddIOp>("last", bounds[i], radius),
                                   op<arith::SubIOp>("last", param(count), index(1)));
  return bounds;
}

Value Emitter::photons() {
  LoopDimensions dims = {{Dimension::panel, variant.pixelList ? index(1) : param("panel_count")},
                         {Dimension::slow, param("slow_pixels")},
                         {Dimension::fast, param("fast_pixels")}};
  SmallVector<Value> roi = regionOfPhotons();
  // Light of pixels that the mask leaves out falls on others.
  bool masked = variant.mask && variant.pointSpread == nanobragg::PointSpread::None;
  // Only the last image is rounded.
  bool last = !variant.hasResponse();
  RankedTensorType type = imageType(last && variant.imageType == nanobragg::ImageType::F32);
  Location loc = named(last ? "floatimage" : "photons");
  auto image = ImageOp::create(b, loc, TypeRange{type}, countsOf(dims), ValueRange(roi),
                               masked ? param("mask") : Value(), namesOf(dims), IntegerAttr(),
                               IntegerAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body = startBody(image, dims);
  ValueRange place = body->getArguments();
  Value value = variant.lightGiven ? op<ReadPixelOp>("light", b.getF64Type(), param("light"),
                                                     place[0], place[1], place[2])
                                   : pixel(placeOfPixel(place));
  if (type.getElementType().isF32())
    value = op<arith::TruncFOp>("pixel", type.getElementType(), value);
  YieldOp::create(b, loc, value);
  return image.getResult(0);
}

/// Which pixel of the detector stands at a place of the image.
SampleIndices Emitter::placeOfPixel(ValueRange place) {
  const auto read = [&](StringRef name, Value fast) {
    return op<ReadPixelOp>(name, b.getF64Type(), param(name), place[0], place[1], fast);
  };
  SampleIndices at;
  at.panel = place[0];
  if (!variant.pixelList) {
    at.slow = place[1];
    at.fast = place[2];
    return at;
  }
  // One for the whole row: tables cannot be looked up by pixel. The remainder says how large they
  // are.
  const auto ofRow = [&](StringRef name, StringRef count) -> Value {
    Value number = op<arith::FPToSIOp>(name, b.getI64Type(), read(name, index(0)));
    Value entry = op<arith::IndexCastOp>(name, b.getIndexType(), number);
    return op<arith::RemUIOp>(name, entry, param(count));
  };
  if (variant.panels)
    at.panel = ofRow("pixel_panel", "panel_count");
  if (variant.bySource) {
    at.source = ofRow("reflection_source", "sources");
    if (layered())
      at.layer = ofRow("reflection_layer", "layers");
  }
  at.slow = read("pixel_slow", place[2]);
  at.fast = read("pixel_fast", place[2]);
  return at;
}

/// The one evaluation that stands for the pixel: first layer, sub-pixel and source.
SampleIndices Emitter::firstOfPixel(const SampleIndices &at) {
  SampleIndices first = at;
  first.subslow = first.subfast = first.source = index(0);
  if (layered())
    first.layer = index(0);
  return first;
}

Value Emitter::pixelOfSpots(const SampleIndices &at) {
  Value light = lightOfSpots(at);
  if (variant.water == nanobragg::Water::Right) {
    const SampleIndices first = firstOfPixel(at);
    light = withWater(light, first, solidAngleOfPixel(first), polarizationOfPixel(first));
  }
  return withBackground(light, at);
}

Value Emitter::pixel(const SampleIndices &at) {
  if (variant.averaging == nanobragg::Averaging::Spots)
    return pixelOfSpots(at);
  Value intensity = sumOfSamples(at);
  const SampleIndices first = firstOfPixel(at);
  Value solidAngle = solidAngleOfPixel(first);
  Value polarization = polarizationOfPixel(first);
  Value steps = weightOfSamples();

  intensity = withWaterInSum(intensity);
  Value scale =
      mul("r_e_sqr_fluence", number(nanobragg::constants::electronRadiusSquared), param("fluence"));
  Value value = div("pixel", mul("pixel", scale, intensity), steps);
  value = times("pixel", value, captureOfPixel(first));
  value = times("pixel", value, polarization);
  value = times("pixel", value, solidAngle);
  return withBackground(withWater(value, first, solidAngle, polarization), at);
}

Value Emitter::sumOfSamples(const SampleIndices &pixel) {
  LoopDimensions dims;
  SmallVector<Value SampleIndices::*> numbers;
  const auto over = [&](Dimension dimension, StringRef count, Value SampleIndices::*number) {
    dims.push_back({dimension, param(count)});
    numbers.push_back(number);
  };
  const bool sampled = variant.isSampled();
  if (layered() && !variant.bySource)
    over(Dimension::layer, "layers", &SampleIndices::layer);
  over(Dimension::subslow, "oversample", &SampleIndices::subslow);
  over(Dimension::subfast, "oversample", &SampleIndices::subfast);
  if (!variant.bySource)
    over(Dimension::source, "sources", &SampleIndices::source);
  over(Dimension::phi, "phi_steps", &SampleIndices::phi);
  if (sampled)
    over(Dimension::mosaic, "mosaic_domains", &SampleIndices::mosaic);
  else
    over(Dimension::draw, "draws", &SampleIndices::draw);
  return sum("I", dims, [&](ValueRange ivs) {
    SampleIndices at = pixel;
    for (auto [number, value] : llvm::zip(numbers, ivs))
      at.*number = value;
    return sample(at);
  });
}

Value Emitter::sumOfWeights() {
  return sum("weights", {{Dimension::source, param("sources")}},
             [&](ValueRange source) { return lookup("weight", "source_weight", source[0]); });
}

/// The divisor of the sum over samples; layers do not count, each adds what it captures.
Value Emitter::weightOfSamples() {
  Value weights = sumOfWeights();
  Value perSide = toFloat("oversample", param("oversample"));
  Value steps = mul("steps", weights, toFloat("phi_steps", param("phi_steps")));
  StringRef inner = variant.isSampled() ? "mosaic_domains" : "draws";
  steps = mul("steps", steps, toFloat(inner, param(inner)));
  return mul("steps", steps, mul("subpixels", perSide, perSide));
}

Value Emitter::sample(const SampleIndices &at) {
  Value pos = position(at);
  Value diffracted = op<NormalizeOp>("diffracted_vec", pos);
  Ray incident = incidentRay(at);
  Value q =
      op<ScatteringVectorOp>("scattering_vec", diffracted, incident.direction, incident.wavelength);
  if (!variant.dmin)
    return correctedSample(at, pos, diffracted, incident, q);

  Value keep = op<WithinResolutionOp>("within_resolution", q, param("dmin"));
  auto branch = scf::IfOp::create(b, named("I_sample"), TypeRange{b.getF64Type()}, keep,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, named("I_sample"), correctedSample(at, pos, diffracted, incident, q));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, named("I_sample"), number(0));
  return branch.getResult(0);
}

Value Emitter::correctedSample(const SampleIndices &at, Value position, Value diffracted,
                               const Ray &incident, Value q) {
  Value hkl = millerIndex(at, q);
  Value lattice = latticeFactor(hkl);
  Value value, squared;
  if (factorsByEnergy()) {
    squared = squaredStructureFactor(hkl, wavelengthOfFactors(at.source, incident));
    value = mul("I_sample", squared, mul("F_latt_squared", lattice, lattice));
  } else {
    Value factor = structureFactor(hkl);
    value = op<IntensityOp>("I_sample", factor, lattice);
    if (variant.diffuse)
      squared = mul("F_squared", factor, factor);
  }
  if (variant.diffuse)
    value = add("I_sample", value, mul("I_diffuse", squared, diffuseScattering(hkl)));
  value = mul("I_sample", value, lookup("weight", "source_weight", at.source));
  if (variant.bandwidth == nanobragg::Bandwidth::Spectrum)
    value = mul("I_sample", value, weightOfSpectrum(incident.wavelength));
  value = times("I_sample", value, captureOfSample(at, incident, diffracted));
  value = times("I_sample", value, polarizationOfSample(incident, diffracted));
  return times("I_sample", value, solidAngleOfSample(at, position));
}
