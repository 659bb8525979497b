#include "lib/Frontend/Emitter.h"

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Evaluation;

Value Emitter::polarization(const Ray &incident, Value diffracted) {
  return op<PolarizationOp>("polar", param("kahn_factor"), param("polarization_axis"),
                            incident.direction, diffracted);
}

Value Emitter::polarizationOfSample(const Ray &incident, Value diffracted) {
  return variant.polarization == Evaluation::Each ? polarization(incident, diffracted) : Value();
}

Value Emitter::polarizationOfPixel(const SampleIndices &first) {
  if (variant.polarization != Evaluation::Once)
    return Value();
  if (variant.dmin)
    return firstPolarizationWithinResolution(first);
  Value diffracted = op<NormalizeOp>("diffracted_vec", position(first));
  return polarization(incidentRay(first.source), diffracted);
}

/// The polarization of the first sample that the resolution cutoff lets through.
Value Emitter::firstPolarizationWithinResolution(const SampleIndices &first) {
  LoopDimensions dims;
  if (first.layer)
    dims.push_back({Dimension::layer, param("layers")});
  dims.append({{Dimension::subslow, param("oversample")},
               {Dimension::subfast, param("oversample")},
               {Dimension::source, param("sources")}});
  Location loc = named("polar");
  auto search = FirstOp::create(b, loc, TypeRange{b.getF64Type()}, countsOf(dims), namesOf(dims));
  OpBuilder::InsertionGuard guard(b);
  Block *body = startBody(search, dims);
  SampleIndices at = first;
  if (first.layer)
    at.layer = body->getArgument(0);
  ValueRange rest = body->getArguments().take_back(3);
  at.subslow = rest[0];
  at.subfast = rest[1];
  at.source = rest[2];
  Value diffracted = op<NormalizeOp>("diffracted_vec", position(at));
  Ray ray = incidentRay(at.source);
  Value polar = polarization(ray, diffracted);
  Value q = op<ScatteringVectorOp>("scattering_vec", diffracted, ray.direction, ray.wavelength);
  Value keep = op<WithinResolutionOp>("within_resolution", q, param("dmin"));
  YieldOp::create(b, loc, ValueRange{keep, polar});
  return search.getResult(0);
}
