#include "lib/Frontend/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {

/// Averages over a pixel by equidistant nodes along each edge: at i * step for i = -3 to 3. The
/// rule is exact for polynomials of degree 9, like Gauss and Legendre's with five nodes; but a
/// Gaussian at equidistant places takes powers of one exponential.
constexpr int nodes = 7;
constexpr double step = 0.15284877463987825;
constexpr std::array<double, nodes> weights = {
    0.10389707883998558, 0.18222065558477197, 0.11950967149051733, 0.18874518816945031,
    0.11950967149051733, 0.18222065558477197, 0.10389707883998558};
/// From the first node to the middle of the pixel.
constexpr double toMiddle = (nodes - 1) * step / 2;

} // namespace

/// The light of all spots, each a Gaussian of two variables, averaged over the area of the pixel.
/// docs/reflections-methods.md has the formulas.
Value Emitter::lightOfSpots(const SampleIndices &at) {
  const auto middleOf = [&](Value pixel) {
    Value number = pixel.getType().isF64() ? pixel : toFloat("pixel", pixel);
    return add("pixel", number, this->number(0.5));
  };
  Value fast = middleOf(at.fast), slow = middleOf(at.slow);
  Value panel = toFloat("panel", at.panel);
  return sum("spots", {{Dimension::reflection, param("spots")}}, [&](ValueRange ivs) {
    const auto entry = [&](StringRef name) { return lookup(name, name, ivs[0]); };
    Value here =
        op<arith::CmpFOp>("on_panel", arith::CmpFPredicate::OEQ, panel, entry("spot_panel"));
    Spot spot{.number = ivs[0],
              .photons = op<arith::SelectOp>("photons", here, entry("spot_photons"), number(0)),
              .fastFast = entry("spot_fast_fast"),
              .fastSlow = entry("spot_fast_slow"),
              .slowSlow = entry("spot_slow_slow")};
    Value x = sub("from_spot_fast", fast, entry("spot_fast"));
    Value y = sub("from_spot_slow", slow, entry("spot_slow"));
    // Sums of one term or none.
    Value count =
        op<arith::IndexCastOp>("nodes", b.getIndexType(),
                               op<arith::FPToSIOp>("nodes", b.getI64Type(), entry("spot_nodes")));
    Value thin = op<arith::MinUIOp>("thin", count, index(1));
    Value wide = op<arith::SubIOp>("wide", index(1), thin);
    Value ofWide = sum("wide", {{Dimension::subslow, wide}},
                       [&](ValueRange) { return lightOfWideSpot(spot, x, y); });
    Value ofThin = sum("thin", {{Dimension::subslow, thin}},
                       [&](ValueRange) { return lightOfThinSpot(spot, count, x, y); });
    return add("spot", ofWide, ofThin);
  });
}

/// The cubic part, k111 z1^3 + k112 z1^2 z2 + k122 z1 z2^2 + k222 z2^3, with Hermite's polynomials
/// in place of powers; `variances` are those of z1 and z2 and their covariance.
Value Emitter::skew(const Spot &spot, Value z1, Value z2, const std::array<Value, 3> &variances) {
  const auto entry = [&](StringRef name) { return lookup(name, name, spot.number); };
  Value k111 = entry("spot_skew_fff"), k112 = entry("spot_skew_ffs"), k122 = entry("spot_skew_fss"),
        k222 = entry("spot_skew_sss");
  const auto times = [&](Value x, Value y) { return mul("skew", x, y); };
  const auto plus = [&](Value x, Value y) { return add("skew", x, y); };
  const auto &[v11, v12, v22] = variances;
  const auto linear = [&](Value own, Value other, Value mixed, Value ownVariance,
                          Value otherVariance) {
    Value sum = plus(times(number(3), times(own, ownVariance)), times(other, otherVariance));
    return v12 ? plus(sum, times(number(2), times(mixed, v12))) : sum;
  };
  Value along1 = linear(k111, k122, k112, v11, v22), along2 = linear(k222, k112, k122, v22, v11);
  Value quadratic1 = plus(times(z1, plus(times(k111, z1), times(k112, z2))),
                          sub("skew", times(k122, times(z2, z2)), along1));
  Value quadratic2 = sub("skew", times(k222, times(z2, z2)), along2);
  return plus(times(z1, quadratic1), times(z2, quadratic2));
}

/// The exponent with the cubic part, which grows faster than the square and far from the middle of
/// a very skew spot would outweigh it.
Value Emitter::skewed(Value exponent, Value cubic) {
  Value least = add("least_fall", mul("least_fall", number(0.5), exponent), number(0.5));
  return op<arith::MinimumFOp>("exponent", sub("exponent", exponent, cubic), least);
}

/// The light of a spot that is not much thinner than a pixel, by the rule of equidistant nodes: at
/// node i, j it is exp(e) u^i v^j A_i C_j B^(i j), with e, u and v of the pixel and A, B and C of
/// the spot.
Value Emitter::lightOfWideSpot(const Spot &spot, Value x, Value y) {
  Value det = sub("det", mul("det", spot.fastFast, spot.slowSlow),
                  mul("det", spot.fastSlow, spot.fastSlow));
  Value density = div("density", mul("density", spot.photons, number(0.5 / std::numbers::pi)),
                      op<math::SqrtOp>("det", det));
  Value ff = div("precision", spot.slowSlow, det), ss = div("precision", spot.fastFast, det),
        fs = op<arith::NegFOp>("precision", div("precision", spot.fastSlow, det));

  // factor * weight_i * g^(i^2) with g = exp(-step^2 precision / 2).
  const auto coefficients = [&](Value precision, Value factor) {
    std::array<Value, nodes> result;
    for (int i = 0; i != nodes; ++i) {
      Value exponent = mul("of_node", number(-step * step / 2 * i * i), precision);
      Value fall =
          mul("of_node", number(weights[std::size_t(i)]), op<math::ExpOp>("of_node", exponent));
      result[std::size_t(i)] = factor ? mul("of_node", factor, fall) : fall;
    }
    return result;
  };
  const auto ofFast = coefficients(ff, density), ofSlow = coefficients(ss, {});
  // Bounds that only thin spots and pixels without light meet, and with which no power is infinite
  // in f32.
  Value mixed =
      op<math::ExpOp>("mixed", within("mixed", mul("mixed", number(-step * step), fs), number(1)));

  // The exponent at the first node, and the steps from it.
  Value x0 = sub("first_fast", x, number(toMiddle)), y0 = sub("first_slow", y, number(toMiddle));
  Value byFast = add("by_fast", mul("by_fast", ff, x0), mul("by_fast", fs, y0));
  Value bySlow = add("by_slow", mul("by_slow", fs, x0), mul("by_slow", ss, y0));
  Value exponent = mul("exponent", number(-0.5),
                       add("exponent", mul("exponent", byFast, x0), mul("exponent", bySlow, y0)));
  const auto stepOf = [&](StringRef name, Value slope) {
    return op<math::ExpOp>(name, within(name, mul(name, number(-step), slope), number(5.8)));
  };
  Value u = stepOf("step_fast", byFast), v = stepOf("step_slow", bySlow);

  // The cubic part is that of the average: third derivatives of a Gaussian that is wider by the
  // variance of the pixel.
  Value pixel = number(1.0 / 12);
  Value wideFf = add("wide_ff", spot.fastFast, pixel),
        wideSs = add("wide_ss", spot.slowSlow, pixel);
  Value wideDet = sub("wide_det", mul("wide_det", wideFf, wideSs),
                      mul("wide_det", spot.fastSlow, spot.fastSlow));
  Value fastSigma = op<math::SqrtOp>("fast_sigma", spot.fastFast);
  Value slowSigma = op<math::SqrtOp>("slow_sigma", div("slow_variance", det, spot.fastFast));
  // Along both standard deviations, (fastSigma, across) and (0, slowSigma), as changes of the
  // exponent with fast and slow.
  Value across = div("across", spot.fastSlow, fastSigma);
  const auto byWide = [&](StringRef name, Value ofOwn, Value own, Value other) {
    Value product = mul(name, ofOwn, own);
    return div(name, other ? sub(name, product, mul(name, spot.fastSlow, other)) : product,
               wideDet);
  };
  Value first1 = byWide("along_1", wideSs, fastSigma, across),
        second1 = byWide("along_1", wideFf, across, fastSigma),
        first2 = op<arith::NegFOp>(
            "along_2", div("along_2", mul("along_2", spot.fastSlow, slowSigma), wideDet)),
        second2 = byWide("along_2", wideFf, slowSigma, {});
  const auto combined = [&](StringRef name, Value f, Value x, Value s, Value y) {
    return add(name, mul(name, f, x), mul(name, s, y));
  };
  const std::array<Value, 3> variances = {combined("v11", first1, fastSigma, second1, across),
                                          mul("v12", second1, slowSigma),
                                          mul("v22", second2, slowSigma)};
  Value farthest = number(6);
  Value z1 = within("z1", combined("z1", first1, x, second1, y), farthest);
  Value z2 = within("z2", combined("z2", first2, x, second2, y), farthest);
  exponent = skewed(exponent, skew(spot, z1, z2, variances));

  // Horner's scheme, along slow within that along fast.
  std::array<Value, nodes> rows;
  for (int i = 0; i != nodes; ++i) {
    Value row = ofSlow.back();
    for (int j = nodes - 2; j >= 0; --j)
      row = add("row", mul("row", row, v), ofSlow[std::size_t(j)]);
    rows[std::size_t(i)] = mul("row", row, ofFast[std::size_t(i)]);
    v = mul("step_slow", v, mixed);
  }
  Value average = rows.back();
  for (int i = nodes - 2; i >= 0; --i)
    average = add("average", mul("average", average, u), rows[std::size_t(i)]);
  return mul("light", op<math::ExpOp>("fall", exponent), average);
}

/// The light of a thin spot: along slow by error functions, along fast by a quadrature over the
/// part of the pixel where the spot has light.
Value Emitter::lightOfThinSpot(const Spot &spot, Value count, Value x, Value y) {
  Value sigmas =
      op<math::SqrtOp>("lit_sigmas", mul("lit_sigmas", number(2), param("average_exponent")));
  Value slope = div("slow_by_fast", spot.fastSlow, spot.fastFast);
  // The variance of slow at one place along fast.
  Value variance = sub("slow_variance", spot.slowSlow, mul("slow_variance", slope, spot.fastSlow));
  Value slowSigma = op<math::SqrtOp>("slow_sigma", variance);
  Value sharpness = div("sharpness", number(std::sqrt(0.5)), slowSigma);
  Value fastSigma = op<math::SqrtOp>("fast_sigma", spot.fastFast);
  Value half = mul("lit_half", sigmas, fastSigma);
  Value falloff = div("falloff", number(-0.5), spot.fastFast);
  Value density =
      div("density", mul("density", spot.photons, number(0.5 / std::sqrt(2 * std::numbers::pi))),
          fastSigma);

  Value edgeOfPixel = number(0.5);
  Value begin = within("begin", sub("begin", op<arith::NegFOp>("begin", half), x), edgeOfPixel);
  Value end = within("end", sub("end", half, x), edgeOfPixel);
  Value length = sub("length", end, begin);
  Value middle = mul("middle", number(0.5), add("middle", begin, end));
  // A pixel beside the light has none, however far away it is.
  Value first = within("first", add("first", x, middle), half);
  // Along slow from where the light of the pixel is in the mean, nearly.
  Value nearer = div("nearer", slowSigma, add("nearer", variance, number(1.0 / 12)));
  Value variance2 = mul("variance_2", nearer, slowSigma); // z2 has this one over all pixels
  Value perFast = div("per_fast", number(1), fastSigma);
  // The quadrature of n nodes stands behind those of fewer.
  Value before = op<arith::DivUIOp>(
      "before", op<arith::MulIOp>("before", count, op<arith::SubIOp>("before", count, index(1))),
      index(2));
  Value light = sum("light", {{Dimension::subfast, count}}, [&](ValueRange ivs) {
    Value node = op<arith::AddIOp>("node", before, ivs[0]);
    Value place = add("fast", first, mul("fast", length, lookup("node", "spot_node", node)));
    Value offset = sub("slow", y, mul("slow", slope, place));
    Value exponent = mul("exponent", falloff, mul("exponent", place, place));
    Value z1 = mul("z1", perFast, place);
    Value z2 = within("z2", mul("z2", nearer, offset), number(6));
    exponent = skewed(exponent, skew(spot, z1, z2, {number(1), Value(), variance2}));
    Value fall = op<math::ExpOp>("fall", exponent);
    const auto edge = [&](double side) {
      return op<math::ErfOp>("edge", mul("edge", sharpness, add("edge", offset, number(side))));
    };
    Value between = sub("between", edge(0.5), edge(-0.5));
    return mul("light", lookup("weight", "spot_weight", node), mul("light", fall, between));
  });
  return mul("spot", mul("spot", density, length), light);
}
