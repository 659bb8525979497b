#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

/// The light of all spots, each a Gaussian of two variables, averaged over the area of the pixel:
/// along slow by error functions, along fast by a quadrature over the part where the spot has
/// light. docs/reflections.md has the formulas.
Value Emitter::lightOfSpots(const SampleIndices &at) {
  const auto minus = [&](StringRef name, Value x, Value y) {
    return op<arith::SubFOp>(name, x, y);
  };
  const auto middleOf = [&](Value pixel) {
    Value number = pixel.getType().isF64() ? pixel : toFloat("pixel", pixel);
    return add("pixel", number, this->number(0.5));
  };
  const auto withinPixel = [&](StringRef name, Value x) {
    return op<arith::MaximumFOp>(name, number(-0.5), op<arith::MinimumFOp>(name, number(0.5), x));
  };
  Value fast = middleOf(at.fast), slow = middleOf(at.slow);
  Value panel = toFloat("panel", at.panel);
  Value sigmas =
      op<math::SqrtOp>("lit_sigmas", mul("lit_sigmas", number(2), param("average_exponent")));
  return sum("spots", {{Dimension::reflection, param("spots")}}, [&](ValueRange ivs) {
    const auto ofSpot = [&](StringRef name) { return lookup(name, name, ivs[0]); };
    Value ff = ofSpot("spot_fast_fast"), fs = ofSpot("spot_fast_slow"),
          ss = ofSpot("spot_slow_slow");
    Value slope = div("slow_by_fast", fs, ff);
    // The variance of slow at one place along fast.
    Value variance = minus("slow_variance", ss, mul("slow_variance", slope, fs));
    Value slowSigma = op<math::SqrtOp>("slow_sigma", variance);
    Value sharpness = div("sharpness", number(std::sqrt(0.5)), slowSigma);
    Value fastSigma = op<math::SqrtOp>("fast_sigma", ff);
    Value half = mul("lit_half", sigmas, fastSigma);
    Value falloff = div("falloff", number(-0.5), ff);
    Value here =
        op<arith::CmpFOp>("on_panel", arith::CmpFPredicate::OEQ, panel, ofSpot("spot_panel"));
    Value photons = op<arith::SelectOp>("photons", here, ofSpot("spot_photons"), number(0));
    Value density =
        div("density", mul("density", photons, number(0.5 / std::sqrt(2 * std::numbers::pi))),
            fastSigma);

    Value x = minus("from_spot_fast", fast, ofSpot("spot_fast"));
    Value y = minus("from_spot_slow", slow, ofSpot("spot_slow"));
    Value begin = withinPixel("begin", minus("begin", op<arith::NegFOp>("begin", half), x));
    Value end = withinPixel("end", minus("end", half, x));
    Value length = minus("length", end, begin);
    Value middle = mul("middle", number(0.5), add("middle", begin, end));
    // A pixel beside the light has none, however far away it is.
    Value first =
        op<arith::MaximumFOp>("first", op<arith::NegFOp>("first", half),
                              op<arith::MinimumFOp>("first", half, add("first", x, middle)));
    // By Hermite's polynomials in standard deviations from the middle; along slow from where the
    // light of the pixel is in the mean, nearly.
    Value within = div("within", slowSigma, add("within", variance, number(1.0 / 12)));
    Value perFast = div("per_fast", number(1), fastSigma);
    const auto skew = [&](Value place, Value offset) {
      constexpr double farthest = 6;
      Value z1 = mul("z1", perFast, place);
      Value z2 = op<arith::MaximumFOp>(
          "z2", number(-farthest),
          op<arith::MinimumFOp>("z2", number(farthest), mul("z2", within, offset)));
      Value square1 = mul("z1_squared", z1, z1), square2 = mul("z2_squared", z2, z2);
      const auto times = [&](StringRef name, Value square, double less) {
        return mul("skew", ofSpot(name), minus("skew", square, number(less)));
      };
      Value byZ1 =
          add("skew", times("spot_skew_fff", square1, 3), times("spot_skew_fss", square2, 1));
      Value byZ2 =
          add("skew", times("spot_skew_ffs", square1, 1), times("spot_skew_sss", square2, 3));
      return add("skew", mul("skew", z1, byZ1), mul("skew", z2, byZ2));
    };
    // The quadrature of n nodes stands behind those of fewer.
    Value nodes =
        op<arith::IndexCastOp>("nodes", b.getIndexType(),
                               op<arith::FPToSIOp>("nodes", b.getI64Type(), ofSpot("spot_nodes")));
    Value before = op<arith::DivUIOp>(
        "before", op<arith::MulIOp>("before", nodes, op<arith::SubIOp>("before", nodes, index(1))),
        index(2));
    Value light = sum("light", {{Dimension::subfast, nodes}}, [&](ValueRange ivs) {
      Value node = op<arith::AddIOp>("node", before, ivs[0]);
      Value place = add("fast", first, mul("fast", length, lookup("node", "spot_node", node)));
      Value offset = minus("slow", y, mul("slow", slope, place));
      Value exponent = mul("exponent", falloff, mul("exponent", place, place));
      exponent = minus("exponent", exponent, skew(place, offset));
      Value fall = op<math::ExpOp>("fall", exponent);
      const auto edge = [&](double side) {
        return op<math::ErfOp>("edge", mul("edge", sharpness, add("edge", offset, number(side))));
      };
      Value between = minus("between", edge(0.5), edge(-0.5));
      return mul("light", lookup("weight", "spot_weight", node), mul("light", fall, between));
    });
    return mul("spot", mul("spot", density, length), light);
  });
}
