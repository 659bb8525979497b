#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Capture;
using nanobragg::Evaluation;
using nanobragg::Water;

/// Squared classical electron radius, m^2.
static constexpr double electronRadiusSquared = 7.94079248018965e-30;

/// The names and counts of a loop, and its body block with one index argument per dimension.
static Block *startBody(OpBuilder &b, Location loc, Operation *loop,
                        ArrayRef<std::pair<Dimension, Value>> dims) {
  Block *body = b.createBlock(&loop->getRegion(0));
  for (auto [dimension, count] : dims)
    body->addArgument(b.getIndexType(),
                      NameLoc::get(b.getStringAttr(stringifyDimension(dimension)), loc));
  return body;
}

static ArrayAttr dimensionNames(OpBuilder &b, ArrayRef<std::pair<Dimension, Value>> dims) {
  SmallVector<Attribute> names;
  for (auto [dimension, count] : dims)
    names.push_back(DimensionAttr::get(b.getContext(), dimension));
  return b.getArrayAttr(names);
}

static SmallVector<Value> counts(ArrayRef<std::pair<Dimension, Value>> dims) {
  return llvm::map_to_vector(dims, [](auto dim) { return dim.second; });
}

/// Emits a sum over `dims`; `body` gets the induction variables and returns the term.
static Value emitSum(OpBuilder &b, Location loc, ArrayRef<std::pair<Dimension, Value>> dims,
                     function_ref<Value(ValueRange)> body) {
  auto sum = SumOp::create(b, loc, TypeRange{b.getF64Type()}, counts(dims),
                           dimensionNames(b, dims));
  OpBuilder::InsertionGuard guard(b);
  Block *block = startBody(b, loc, sum, dims);
  YieldOp::create(b, loc, body(block->getArguments()));
  return sum.getResult(0);
}

Value Emitter::image() {
  std::pair<Dimension, Value> dims[] = {{Dimension::panel, param("panel_count")},
                                        {Dimension::slow, param("slow_pixels")},
                                        {Dimension::fast, param("fast_pixels")}};
  Value roi[] = {param("roi_fast_min"), param("roi_fast_max"), param("roi_slow_min"),
                 param("roi_slow_max")};
  Type element =
      variant.imageType == nanobragg::ImageType::F32 ? Type(b.getF32Type()) : Type(b.getF64Type());
  constexpr int64_t unknown = ShapedType::kDynamic;
  auto type = RankedTensorType::get({unknown, unknown, unknown}, element);
  Location loc = named("floatimage");
  auto image = ImageOp::create(b, loc, TypeRange{type}, counts(dims), ValueRange(roi),
                               variant.mask ? param("mask") : Value(), dimensionNames(b, dims),
                               IntegerAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body = startBody(b, loc, image, dims);
  SampleIndices at;
  at.panel = body->getArgument(0);
  at.slow = body->getArgument(1);
  at.fast = body->getArgument(2);
  Value value = pixel(at);
  if (element.isF32())
    value = op<arith::TruncFOp>("pixel", element, value);
  YieldOp::create(b, loc, value);
  return image.getResult(0);
}

Value Emitter::pixel(SampleIndices at) {
  bool layered = variant.capture != Capture::None;
  SmallVector<std::pair<Dimension, Value>> dims;
  if (layered)
    dims.push_back({Dimension::layer, param("layers")});
  dims.append({{Dimension::subslow, param("oversample")},
               {Dimension::subfast, param("oversample")},
               {Dimension::source, param("sources")},
               {Dimension::phi, param("phi_steps")},
               {Dimension::mosaic, param("mosaic_domains")}});
  Value intensity = emitSum(b, named("I"), dims, [&](ValueRange ivs) {
    SampleIndices s = at;
    if (layered)
      s.layer = ivs.front();
    ValueRange rest = ivs.take_back(5);
    s.subslow = rest[0];
    s.subfast = rest[1];
    s.source = rest[2];
    s.phi = rest[3];
    s.mosaic = rest[4];
    return sample(s);
  });

  // The one evaluation that stands for the pixel: first layer, sub-pixel and source.
  SampleIndices first = at;
  first.subslow = first.subfast = first.source = index(0);
  if (layered)
    first.layer = index(0);
  bool omegaOnce = variant.omega == Evaluation::Once;
  bool polarizationOnce = variant.polarization == Evaluation::Once;
  bool water = variant.water == Water::Right;
  Value omega = omegaOnce || water ? solidAngle(first, position(first)) : Value();
  Value polarization = polarizationOnce ? oncePolarization(first) : Value();

  Value weights =
      emitSum(b, named("weights"), {{Dimension::source, param("sources")}},
              [&](ValueRange ivs) { return lookup("weight", "source_weight", ivs[0]); });
  Value perSide = toFloat("oversample", param("oversample"));
  Value steps = mul("steps", weights, toFloat("phi_steps", param("phi_steps")));
  steps = mul("steps", steps, toFloat("mosaic_domains", param("mosaic_domains")));
  steps = mul("steps", steps, mul("subpixels", perSide, perSide));

  if (variant.water == Water::C)
    intensity = add("I", intensity,
                    op<WaterBackgroundOp>("water", param("water_size"), param("fluence")));

  Value scale = mul("r_e_sqr_fluence", number(electronRadiusSquared), param("fluence"));
  Value value = div("pixel", mul("pixel", scale, intensity), steps);
  if (variant.capture == Capture::Last) {
    SampleIndices last = first;
    last.layer = op<arith::SubIOp>("last_layer", param("layers"), index(1));
    Value diffracted = op<NormalizeOp>("diffracted_vec", position(last));
    value = mul("pixel", value, captureFraction(last, diffracted));
  }
  if (polarizationOnce)
    value = mul("pixel", value, polarization);
  if (omegaOnce)
    value = mul("pixel", value, omega);
  if (water)
    value = add("pixel", value, background(first, omega, polarization));
  return value;
}

Value Emitter::background(const SampleIndices &first, Value omega, Value polarization) {
  Value value = op<WaterBackgroundOp>("water", param("water_size"), param("fluence"));
  value = mul("water", value, omega);
  if (variant.polarization == Evaluation::Each)
    polarization = this->polarization(incidentRay(first.source),
                                      op<NormalizeOp>("diffracted_vec", position(first)));
  if (polarization)
    value = mul("water", value, polarization);
  if (variant.capture == Capture::None)
    return value;
  Value captured = emitSum(b, named("captured"), {{Dimension::layer, param("layers")}},
                           [&](ValueRange ivs) {
                             SampleIndices at = first;
                             at.layer = ivs[0];
                             Value d = op<NormalizeOp>("diffracted_vec", position(at));
                             return captureFraction(at, d);
                           });
  return mul("water", value, captured);
}

Value Emitter::oncePolarization(const SampleIndices &first) {
  auto at = [&](const SampleIndices &s, Value &diffracted, Ray &ray) {
    diffracted = op<NormalizeOp>("diffracted_vec", position(s));
    ray = incidentRay(s.source);
    return polarization(ray, diffracted);
  };
  Value diffracted;
  Ray ray;
  if (!variant.dmin)
    return at(first, diffracted, ray);

  // With a resolution cutoff it is the first sample that the cutoff lets through.
  SmallVector<std::pair<Dimension, Value>> dims;
  if (first.layer)
    dims.push_back({Dimension::layer, param("layers")});
  dims.append({{Dimension::subslow, param("oversample")},
               {Dimension::subfast, param("oversample")},
               {Dimension::source, param("sources")}});
  Location loc = named("polar");
  auto search = FirstOp::create(b, loc, TypeRange{b.getF64Type()}, counts(dims), dimensionNames(b, dims));
  OpBuilder::InsertionGuard guard(b);
  Block *body = startBody(b, loc, search, dims);
  SampleIndices s = first;
  if (first.layer)
    s.layer = body->getArgument(0);
  ValueRange rest = body->getArguments().take_back(3);
  s.subslow = rest[0];
  s.subfast = rest[1];
  s.source = rest[2];
  Value polar = at(s, diffracted, ray);
  Value q = op<ScatteringVectorOp>("scattering_vec", diffracted, ray.direction, ray.wavelength);
  Value keep = op<WithinResolutionOp>("within_resolution", q, param("dmin"));
  YieldOp::create(b, loc, ValueRange{keep, polar});
  return search.getResult(0);
}

Value Emitter::sample(const SampleIndices &at) {
  Value pos = position(at);
  Value diffracted = op<NormalizeOp>("diffracted_vec", pos);
  Ray incident = incidentRay(at.source);
  Value q =
      op<ScatteringVectorOp>("scattering_vec", diffracted, incident.direction, incident.wavelength);
  if (!variant.dmin)
    return correctedSample(at, pos, diffracted, incident, q);

  Value keep = op<WithinResolutionOp>("within_resolution", q, param("dmin"));
  auto branch = scf::IfOp::create(b, named("I_sample"), TypeRange{b.getF64Type()}, keep,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, named("I_sample"),
                       correctedSample(at, pos, diffracted, incident, q));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, named("I_sample"), number(0));
  return branch.getResult(0);
}

Value Emitter::correctedSample(const SampleIndices &at, Value position, Value diffracted,
                               Ray incident, Value q) {
  Value hkl = op<MillerIndexOp>("hkl", directCell(at), q);
  Value lattice = latticeFactor(hkl);
  Value value = op<IntensityOp>("I_sample", structureFactor(hkl), lattice);
  value = mul("I_sample", value, lookup("weight", "source_weight", at.source));
  if (variant.capture == Capture::Sum) {
    // The C program evaluates a layer's capture fraction at the first sub-pixel.
    SampleIndices front = at;
    front.subslow = front.subfast = index(0);
    Value d = op<NormalizeOp>("first_diffracted", this->position(front));
    value = mul("I_sample", value, captureFraction(front, d));
  }
  if (variant.capture == Capture::Each)
    value = mul("I_sample", value, captureFraction(at, diffracted));
  if (variant.polarization == Evaluation::Each)
    value = mul("I_sample", value, polarization(incident, diffracted));
  if (variant.omega == Evaluation::Each)
    value = mul("I_sample", value, solidAngle(at, position));
  return value;
}
