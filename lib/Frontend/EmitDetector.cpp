#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Curvature;
using nanobragg::DistanceInput;
using nanobragg::Pivot;
using nanobragg::Rule;

DetectorFrame Emitter::detector(Value panel) {
  Value rotation = op<EulerRotationOp>("detector_rotation", param("detector_rotx"),
                                       param("detector_roty"), param("detector_rotz"));
  Value swing = op<AxisRotationOp>("twotheta_rotation", param("twotheta_axis"), param("twotheta"));
  Value turn = op<MultiplyOp>("detector_turn", swing, rotation);
  Value beam = param("beam_direction");
  Value fast0 = param("fast_axis"), slow0 = param("slow_axis"), normal0 = param("normal_axis");

  DetectorFrame frame;
  Value cosine = op<DotOp>("ratio", beam, op<TransformOp>("rotated_normal", rotation, normal0));
  Value edgeOn = op<arith::CmpFOp>("edge_on", arith::CmpFPredicate::OEQ, cosine, number(0));
  frame.ratio =
      op<arith::SelectOp>("ratio", edgeOn, number(std::numeric_limits<double>::min()), cosine);
  Value close = variant.distance == DistanceInput::CloseDistance
                    ? param("close_distance")
                    : op<math::AbsFOp>("close_distance",
                                       mul("close_distance", frame.ratio, param("distance")));

  frame.fast = op<TransformOp>("fdet_vec", turn, fast0);
  frame.slow = op<TransformOp>("sdet_vec", turn, slow0);
  frame.normal = op<TransformOp>("odet_vec", turn, normal0);
  auto corner = [&](Value center, Value fast, Value slow) {
    Value f = op<ScaleOp>("fast_offset", fast, param("beam_center_fast"));
    Value s = op<ScaleOp>("slow_offset", slow, param("beam_center_slow"));
    return op<SubOp>("pix0_vector", op<SubOp>("pix0_vector", center, f), s);
  };
  if (variant.pivot == Pivot::Beam) {
    Value distance = div("distance", close, frame.ratio);
    frame.origin = corner(op<ScaleOp>("beam_spot", beam, distance), frame.fast, frame.slow);
  } else {
    Value flat = corner(op<ScaleOp>("close_point", normal0, close), fast0, slow0);
    frame.origin = op<TransformOp>("pix0_vector", turn, flat);
  }

  if (variant.panels) {
    auto turned = [&](StringRef name, StringRef table) {
      return op<TransformOp>(name, turn, lookup(name, table, panel));
    };
    frame.origin = op<AddOp>("panel_origin", frame.origin, turned("panel_offset", "panel_offset"));
    frame.fast = turned("panel_fast", "panel_fast_axis");
    frame.slow = turned("panel_slow", "panel_slow_axis");
    frame.normal = turned("panel_normal", "panel_normal");
  }
  frame.closeDistance = op<DotOp>("close_distance", frame.origin, frame.normal);
  if (variant.faces == Rule::Right) {
    // Light enters by the face that the sample sees, and the sensor lies behind it.
    Value side = op<math::CopySignOp>("side", number(1), frame.closeDistance);
    frame.normal = op<ScaleOp>("odet_vec", frame.normal, side);
    frame.closeDistance = op<math::AbsFOp>("close_distance", frame.closeDistance);
  }
  return frame;
}

Value Emitter::radius(const DetectorFrame &frame) {
  Value cosine = op<DotOp>("ratio", param("beam_direction"), frame.normal);
  return div("distance", frame.closeDistance, op<math::AbsFOp>("ratio", cosine));
}

Value Emitter::layerSpacing() {
  return mul("layer_spacing", param("sensor_thickness"), param("layer_fraction"));
}

Value Emitter::depth(const SampleIndices &at) {
  if (!at.layer)
    return number(0);
  return mul("depth", toFloat("layer", at.layer), layerSpacing());
}

/// Along one axis, from the detector's edge, in m.
Value Emitter::coordinate(StringRef name, Value pixel, Value subPixel, Value oversample) {
  Value size = param("pixel_size");
  if (isa<IndexType>(pixel.getType()))
    return op<DetectorCoordinateOp>(name, pixel, subPixel, oversample, size);
  Value inPixel = op<DetectorCoordinateOp>(name, index(0), subPixel, oversample, size);
  return add(name, mul(name, pixel, size), inPixel);
}

Value Emitter::position(const SampleIndices &at) {
  DetectorFrame frame = detector(at.panel);
  Value oversample = at.oversample ? at.oversample : param("oversample");
  Value fast = coordinate("Fdet", at.fast, at.subfast, oversample);
  Value slow = coordinate("Sdet", at.slow, at.subslow, oversample);
  const auto within = [&](StringRef name, StringRef draws, Value coordinate) {
    Value part = uniform(name, draws, at);
    if (!part)
      return coordinate;
    Value subPixel = div(name, param("pixel_size"), toFloat("oversample", oversample));
    return add(name, coordinate, mul(name, part, subPixel));
  };
  fast = within("Fdet", "draw_fast", fast);
  slow = within("Sdet", "draw_slow", slow);
  Value below = depth(at);
  Value flat = op<PixelPositionOp>("pixel_pos", frame.origin, frame.fast, frame.slow, frame.normal,
                                   fast, slow, below);
  if (variant.curvature == Curvature::Flat)
    return flat;
  return curvedPosition(frame, flat, fast, slow, below);
}

Value Emitter::curvedPosition(const DetectorFrame &frame, Value flat, Value fast, Value slow,
                              Value depth) {
  Value beam = param("beam_direction");
  if (variant.curvature == Curvature::C) {
    Value distance = div("distance", frame.closeDistance, frame.ratio);
    Value y = op<ComponentOp>("pixel_y", flat, 1);
    Value z = op<ComponentOp>("pixel_z", flat, 2);
    return op<CurvedPositionOp>("pixel_pos", beam, frame.fast, frame.slow, distance,
                                div("about_slow", y, distance), div("about_fast", z, distance));
  }
  // The beam's line meets the panel behind the sample, or before it.
  Value distance = radius(frame);
  Value side = op<math::CopySignOp>("side", number(1), op<DotOp>("ratio", beam, frame.normal));
  Value toSpot = op<ScaleOp>("to_spot", beam, side);
  Value spot = op<SubOp>("beam_spot", op<ScaleOp>("beam_spot", toSpot, distance), frame.origin);
  Value hand =
      op<DotOp>("handedness", op<CrossOp>("fast_x_slow", frame.fast, frame.slow), frame.normal);
  Value sign = op<math::CopySignOp>("handedness", number(1), hand);
  // Lanes multiply by the inverse, and so has a number that is the same for a whole row: culled
  // kernels have other lanes than those that compute all samples, and the same bits.
  Value inverse = div("inverse_distance", number(1), distance);
  auto angle = [&](StringRef name, Value coordinate, Value axis) {
    Value fromSpot = sub(name, coordinate, op<DotOp>(name, axis, spot));
    return mul(name, sign, mul(name, fromSpot, inverse));
  };
  Value aboutSlow = angle("about_slow", fast, frame.fast);
  Value aboutFast = op<arith::NegFOp>("about_fast", angle("about_fast", slow, frame.slow));
  return op<CurvedPositionOp>("pixel_pos", toSpot, frame.fast, frame.slow,
                              add("radius", distance, depth), aboutSlow, aboutFast);
}
