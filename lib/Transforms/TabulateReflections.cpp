#include "lib/Transforms/TabulateReflections.h"

#include "dialect/Names.h"
#include "lib/Transforms/Averages/SpotMoments.h"
#include "lib/Transforms/Invariants.h"
#include "nanobragg/ReflectionColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {

/// Steps from where a reflection is expected, which may be several widths of its spot away.
constexpr int linearizations = 3;
constexpr double leastLight = 1e-300;
/// Under a square root whose derivative is asked for.
constexpr double leastVariance = 1e-30;

/// Sums over sources and layers of a sensor: light, weights and weights times a number.
enum Sum {
  Light,
  Weight,
  Partiality,
  Fast,
  Slow,
  FastFast,
  FastSlow,
  SlowSlow,
  Turn,
  TurnTurn,
  Shift,
  ShiftShift,
  Skew, ///< four of these
  Excess = Skew + 4,
  Motion,
  Brightest,
  Sums
};
/// Sums over nodes of a spectrum: light, also times powers of the wavelength's shift, and the light
/// of a flat spectrum without factors.
namespace OfSpectrum {
enum Sum { Light, Off1, Off2, Off3, Off4, LightSquared, Share, ShareSquared, Density, Sums };
} // namespace OfSpectrum
/// A reflection without a structure factor has a place all the same.
constexpr double weightOfDark = 1e-200;

class ReflectionTabulator {
public:
  ReflectionTabulator(DrawnSum &drawn, SumOp sum, func::FuncOp func, const Quadrature &quadrature)
      : drawn(drawn), sum(sum), func(func), quadrature(quadrature), b(drawn.b), r(b, sum.getLoc()) {
  }
  bool run();

private:
  bool refuse(Operation *op, const Twine &reason) {
    drawn.where = op;
    drawn.why = reason.str();
    return false;
  }
  bool findProgram();
  Value argument(StringRef name) const { return argumentNamed(func, name); }
  Value pixelOf(StringRef list);
  /// The body's factor at a place and for a wavelength, times a number.
  using FactorAt = llvm::function_ref<Value(Value fast, Value slow, Value wavelength, Value times)>;
  FailureOr<PlaneSpot::Bend> bendOf(PlaneSpot &spot, const DrawnSum::Crystal &crystal,
                                    const SpotPoint &point, const DrawnSum::Linear &about,
                                    Value node, FactorAt factorAt);
  SpotPoint drawnAt(SpotPoint point);
  FailureOr<DrawnSum::Linear> linearAt(const SpotPoint &point, Value other = {});
  FailureOr<Value> indexAt(const SpotPoint &point) { return drawn.indexAt(drawnAt(point), r); }
  bool narrowWavelengths(const DrawnSum::Crystal &crystal, const SpotPoint &middle);
  Value lightOfSpectrum(SpotMoments &m, Value &shift, Value &variance,
                        const std::array<Value, 2> &covariance,
                        llvm::function_ref<Value(Value shift)> lightAt);
  std::array<Value, 2> shapeBySpectrum(SpotMoments &m, const std::array<Value, 2> &by, SumOp nodes);
  Value inverseOf(Value sum) {
    return r.reciprocal(maximum(sum, r.constant(sum.getType(), leastLight), r));
  }
  bool addTerm(ArrayRef<Value> reflection);
  void addColumns(SumOp outer);

  DrawnSum &drawn;
  SumOp sum;
  func::FuncOp func;
  const Quadrature &quadrature;
  OpBuilder &b;
  RuleBuilder r;
  ImageOp image;
  Value wavelength; ///< the wavelength of a sample
  Value nominal;    ///< one of these
  Value fast, slow; ///< the pixel that is listed
  Value density;    ///< the spectrum's for a sample; null: there is no spectrum
  Value start;      ///< the wavelength at which the reflection is expected; null: the nominal one
  /// With a spectrum, its normal variable of the wavelength is drawn from a distribution that is
  /// narrower by `narrow` about `centre`: of one of many times a spot's own range, differences
  /// would leave nothing.
  std::optional<unsigned> wave;
  Value centre, narrow;
  bool turns = false;
  Value turn; ///< where in the step it is expected
  /// Only light of this part of the step, or of the spectrum, counts. A part of the spectrum is
  /// between two shifts from the nominal wavelength.
  StepPart part;
};

/// The pixel's number in a list among the function's arguments.
Value ReflectionTabulator::pixelOf(StringRef list) {
  Value found = argument(list);
  return found ? Value(ReadPixelOp::create(b, sum.getLoc(), b.getF64Type(), found,
                                           image.getInductionVars()[0], image.getInductionVars()[1],
                                           image.getInductionVars()[2]))
               : Value();
}

bool ReflectionTabulator::findProgram() {
  image = sum->getParentOfType<ImageOp>();
  if (!image || sum->getParentOp() != image || image->getNumResults() != 1)
    return refuse(sum, "it does not stand in one image");
  if (!drawn.additions().empty())
    return refuse(drawn.additions().front(), "something else than reflections is added");
  static constexpr StringLiteral names[] = {"draw_fast", "draw_slow", "draw_phi"};
  for (auto [i, variable] : llvm::enumerate(drawn.uniforms()))
    if (DeviateOp(variable.deviate).getTable() != argument(names[i]))
      return refuse(variable.deviate,
                    "the uniform distributions are not 'draw_fast', 'draw_slow' and 'draw_phi'");
  if (drawn.uniforms().size() < 2)
    return refuse(sum, "there are no uniform distributions 'draw_fast' and 'draw_slow'");
  turns = drawn.uniforms().size() == 3;
  image.getBody().walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadPixelOp>(op)) {
      for (auto [list, value] : {std::pair("pixel_fast", &fast), {"pixel_slow", &slow}})
        if (read.getImage() == argument(list))
          *value = read.getResult();
    } else if (auto entry = dyn_cast<StructureFactorOp>(op);
               entry && entry.getGrid() == argument("spectrum_density")) {
      // It is the line between two entries.
      for (Operation *product : op->getUsers())
        for (Operation *line : product->getUsers())
          density = line->getResult(0);
    } else if (auto vector = dyn_cast<ScatteringVectorOp>(op); vector && sum->isAncestor(op)) {
      wavelength = vector.getWavelength();
    }
  });
  if (argument("spectrum_density") && !density)
    return refuse(sum, "nothing is between two entries of the argument 'spectrum_density'");
  if (!fast || !slow || !wavelength)
    return refuse(sum, "the pixels are not those of the arguments 'pixel_fast' and 'pixel_slow'");
  return true;
}

/// A point of the program's own variables.
SpotPoint ReflectionTabulator::drawnAt(SpotPoint point) {
  if (wave) {
    Value &of = point.normals[*wave];
    of = of ? r.add(centre, r.mul(narrow, of)) : centre;
  }
  return point;
}

FailureOr<DrawnSum::Linear> ReflectionTabulator::linearAt(const SpotPoint &point, Value other) {
  auto found = drawn.linearAt(drawnAt(point), r, other);
  if (wave && succeeded(found)) {
    Value &by = found->spot.byNormals[*wave];
    by = r.scale(by, narrow);
    if (other && found->otherByNormals[*wave])
      found->otherByNormals[*wave] = r.mul(found->otherByNormals[*wave], narrow);
  }
  return found;
}

/// Narrows the wavelength's variable to about the part of the spectrum, and to some times the range
/// that the spot takes by all others, wherever it is on the detector: along the normal of the plane
/// that the place moves the Miller index in.
bool ReflectionTabulator::narrowWavelengths(const DrawnSum::Crystal &crystal,
                                            const SpotPoint &middle) {
  constexpr double wide = 16;
  narrow = r.constant(b.getF64Type(), 1);
  auto found = linearAt(middle);
  if (failed(found))
    return false;
  Value normal = r.cross(found->spot.byUniforms[0], found->spot.byUniforms[1]);
  Value variance = r.dot(normal, times(crystal.shape, normal, r));
  for (auto [k, by] : llvm::enumerate(found->spot.byNormals))
    if (k != *wave) {
      Value along = r.dot(normal, by);
      variance = r.add(variance, r.mul(along, along));
    }
  Value along = r.dot(normal, found->spot.byNormals[*wave]);
  Value squared = r.div(r.mul(variance, wide * wide),
                        maximum(r.mul(along, along), r.constant(b.getF64Type(), leastLight), r));
  Value one = narrow, square = minimum(squared, one, r);
  Value length = r.div(r.sub(part.end, part.begin), argument("bandwidth_sigma"));
  square = minimum(square, r.mul(r.mul(length, length), 1.0 / 6), r);
  narrow = r.sqrt(square);
  // A spot of all wavelengths, as the direct beam is, has the program's own draws.
  centre = r.mul(centre, r.sub(one, square));
  return true;
}

/// By what is seen a standard deviation away from the spot's middle. The factors of the whole pixel
/// have their slopes later.
FailureOr<PlaneSpot::Bend> ReflectionTabulator::bendOf(PlaneSpot &spot,
                                                       const DrawnSum::Crystal &crystal,
                                                       const SpotPoint &point,
                                                       const DrawnSum::Linear &about, Value node,
                                                       FactorAt factorAt) {
  PlaneSpot::Bend bend;
  Value middle = r.add(about.spot.distance, node);
  Value unit = r.constant(b.getF64Type(), 1);
  Value here = factorAt(point.uniforms[0], point.uniforms[1], about.other, unit);
  SmallVector<Value> ahead;
  for (unsigned i = 0; i != spot.axes(); ++i) {
    PlaneSpot::Offset one{}, other{};
    one[i] = 1;
    other[i] = -1;
    SpotPoint behind = spot.pointAt(one);
    auto back = indexAt(spot.pointAt(other));
    if (failed(back))
      return failure();
    if (i == 2) { // along the angle the light's own slope hardly counts
      auto next = indexAt(behind);
      if (failed(next))
        return failure();
      ahead.push_back(*next);
    } else {
      auto near = linearAt(behind);
      if (failed(near))
        return failure();
      ahead.push_back(near->spot.distance);
      Value lost = r.div(spreadOf(crystal.shape, near->spot, r).lost, spot.loss());
      Value there = factorAt(behind.uniforms[0], behind.uniforms[1], about.other, lost);
      Value least = r.constant(b.getF64Type(), leastLight);
      bend.slope[i] = r.div(r.sub(there, here), maximum(here, least, r));
    }
    bend.second[i][i] = r.sub(r.add(ahead[i], *back), r.add(middle, middle));
    for (unsigned j = 0; j != i; ++j) {
      PlaneSpot::Offset two = one;
      two[j] = 1;
      auto both = indexAt(spot.pointAt(two));
      if (failed(both))
        return failure();
      bend.second[j][i] = r.add(r.sub(*both, r.add(ahead[i], ahead[j])), middle);
    }
  }
  return bend;
}

/// The light of the part of the spectrum, by a quadrature over what the spot may take of it: of its
/// shift, a normal distribution, times the light at each. Shift, place and shape become those of
/// this light.
Value ReflectionTabulator::lightOfSpectrum(SpotMoments &m, Value &shift, Value &variance,
                                           const std::array<Value, 2> &covariance,
                                           llvm::function_ref<Value(Value shift)> lightAt) {
  const auto number = [&](double x) { return r.constant(b.getF64Type(), x); };
  Value sigma = r.sqrt(maximum(variance, number(leastVariance), r));
  Value perSigma = r.reciprocal(sigma);
  constexpr double beyond = 2; // the tails hold less than the tolerance
  Value half = r.mul(sigma, r.sqrt(r.mul(plus(quadrature.exponent, beyond, r), 2)));
  Value begin = maximum(part.begin, r.sub(shift, half), r);
  Value end = maximum(begin, minimum(part.end, r.add(shift, half), r), r);
  Value length = r.sub(end, begin), center = r.mul(r.add(begin, end), 0.5);
  const double rootOfTwoPi = std::sqrt(2 * std::numbers::pi);
  Value width = argument("bandwidth_sigma"), perWidth = r.reciprocal(width);
  SumOp nodes = sumOverNodes(
      quadrature, Dimension::subslow, OfSpectrum::Sums,
      [&](Value node, Value part) -> SmallVector<Value> {
        Value there = r.add(center, r.mul(length, node));
        Value off = r.mul(r.sub(there, shift), perSigma);
        const auto exponential = [&](Value x, double factor) {
          return r.exp(r.mul(r.mul(x, x), factor));
        };
        Value share = exponential(off, -0.5);
        // The weight of a draw of the program's over that of one of the narrower distribution.
        Value drawnAs = r.mul(there, perWidth);
        Value own = exponential(r.div(r.sub(drawnAs, centre), narrow), 0.5);
        Value weight = r.mul(narrow, r.mul(own, exponential(drawnAs, -0.5)));
        Value light = r.mul(r.mul(lightAt(there), weight), share);
        Value at = r.mul(nominal, plus(there, 1, r));
        Value spectrum = r.mul(drawn.valueWith(density, r, {{wavelength, at}}), own);
        SmallVector<Value> terms(OfSpectrum::Sums);
        terms[OfSpectrum::Light] = r.mul(light, part);
        for (int i = OfSpectrum::Off1; i <= OfSpectrum::Off4; ++i)
          terms[i] = r.mul(terms[i - 1], off);
        terms[OfSpectrum::LightSquared] = r.mul(light, terms[OfSpectrum::Light]);
        terms[OfSpectrum::Share] = r.mul(share, part);
        terms[OfSpectrum::ShareSquared] = r.mul(share, terms[OfSpectrum::Share]);
        terms[OfSpectrum::Density] = r.mul(spectrum, terms[OfSpectrum::Share]);
        return terms;
      },
      r);
  Value scale = r.mul(length, r.mul(perSigma, 1 / rootOfTwoPi));
  // In parts of the highest density, that of the normal distribution.
  Value perPeak = r.mul(r.mul(nominal, width), rootOfTwoPi);
  Value dense = r.mul(m.partiality, r.mul(nodes.getResult(OfSpectrum::Density), perPeak));
  m.partiality = r.mul(dense, scale);
  m.brightest = r.mul(dense, inverseOf(nodes.getResult(OfSpectrum::Share)));
  m.turn = shift; // and its variance, of a flat spectrum
  m.turnVariance = variance;
  const auto [off, own] =
      shapeBySpectrum(m, {r.mul(covariance[0], perSigma), r.mul(covariance[1], perSigma)}, nodes);
  shift = r.add(shift, r.mul(sigma, off));
  variance = r.mul(variance, own);
  return r.mul(nodes.getResult(OfSpectrum::Light), scale);
}

/// Makes place and shape those of the light of the spectrum. `by`: what a standard deviation of the
/// shift moves the spot. Returns mean and variance of the shift, in standard deviations of before.
std::array<Value, 2>
ReflectionTabulator::shapeBySpectrum(SpotMoments &m, const std::array<Value, 2> &by, SumOp nodes) {
  const auto number = [&](double x) { return r.constant(b.getF64Type(), x); };
  const auto positive = [&](Value x) { return maximum(x, number(leastVariance), r); };
  const auto mean = [&](OfSpectrum::Sum which) {
    return r.mul(nodes.getResult(which), inverseOf(nodes.getResult(OfSpectrum::Light)));
  };
  Value off = mean(OfSpectrum::Off1), squared = r.mul(off, off), square = mean(OfSpectrum::Off2),
        cube = mean(OfSpectrum::Off3), own = r.sub(square, squared);
  Value third = r.add(r.sub(cube, r.mul(r.mul(off, square), 3)), r.mul(r.mul(squared, off), 2));
  Value fourth = r.sub(r.add(r.sub(mean(OfSpectrum::Off4), r.mul(r.mul(off, cube), 4)),
                             r.mul(r.mul(squared, square), 6)),
                       r.mul(r.add(r.mul(squared, squared), r.mul(own, own)), 3));
  const auto widen = [&](Value times) {
    m.ff = r.add(m.ff, r.mul(r.mul(by[0], by[0]), times));
    m.fs = r.add(m.fs, r.mul(r.mul(by[0], by[1]), times));
    m.ss = r.add(m.ss, r.mul(r.mul(by[1], by[1]), times));
  };
  // The square of how far a standard deviation of the shift moves the spot over a pixel, in the
  // spot's own.
  const auto moved = [&] {
    constexpr double ofPixel = 1.0 / 12;
    Value ff = plus(m.ff, ofPixel, r), ss = plus(m.ss, ofPixel, r);
    Value along = r.add(r.mul(r.mul(by[0], by[0]), ss), r.mul(r.mul(by[1], by[1]), ff));
    Value across = r.mul(r.mul(r.mul(by[0], by[1]), m.fs), 2);
    return r.div(r.sub(along, across), r.sub(r.mul(ff, ss), r.mul(m.fs, m.fs)));
  };
  widen(number(-1));
  m.motion = moved();
  widen(own);
  Value moves = moved(), movesSquared = r.mul(moves, moves);
  for (int i = 0; i != 2; ++i)
    m.place[i] = r.add(m.place[i], r.mul(by[i], off));
  Value first = r.sqrt(m.ff), along1 = r.div(by[0], first), slope = r.div(m.fs, first);
  Value along2 = r.mul(r.sub(by[1], r.mul(slope, along1)),
                       r.rsqrt(positive(r.sub(m.ss, r.mul(slope, slope)))));
  constexpr std::array<double, 4> ofThird{-1.0 / 6, -0.5, -0.5, -1.0 / 6};
  for (std::size_t i = 0; i != ofThird.size(); ++i) {
    Value product = r.mul(third, ofThird[i]);
    for (std::size_t k = 0; k != 3; ++k)
      product = r.mul(product, k + i < 3 ? along1 : along2);
    m.skew[i] = r.add(m.skew[i], product);
  }

  // Lines of the spectrum that are much closer than the light is wide hardly change the cumulants,
  // but the integral of its square, by half the square of their amplitude. A quadrature of 15 nodes
  // is wrong by a two-hundredth there.
  const auto narrowness = [&](OfSpectrum::Sum which, OfSpectrum::Sum ofSquare) {
    Value perSum = inverseOf(nodes.getResult(which));
    return r.mul(r.mul(nodes.getResult(ofSquare), perSum), perSum);
  };
  Value count = arith::SIToFPOp::create(
      b, sum.getLoc(), b.getF64Type(),
      arith::IndexCastOp::create(b, sum.getLoc(), b.getI64Type(), quadrature.count));
  Value few = r.div(number(15), count);
  for (int i = 0; i != 3; ++i)
    few = r.mul(few, few);
  Value narrower =
      r.mul(narrowness(OfSpectrum::Light, OfSpectrum::LightSquared),
            r.div(r.sqrt(positive(own)), narrowness(OfSpectrum::Share, OfSpectrum::ShareSquared)));
  Value lines = maximum(r.sub(plus(narrower, -1, r), r.mul(few, 5e-3)), number(0), r);
  // A spot that moves so far shows as much of each, as fourth cumulants with the same effect.
  constexpr double ofLines = 128, ofSkew = 4.4;
  Value ofFourth = r.mul(fourth, movesSquared);
  Value skewed = r.mul(r.mul(r.mul(third, third), r.mul(movesSquared, moves)), ofSkew);
  Value seen = r.mul(movesSquared, movesSquared);
  Value all = r.add(r.add(r.mul(ofFourth, ofFourth), r.mul(skewed, skewed)),
                    r.mul(r.mul(lines, ofLines), r.mul(seen, seen)));
  m.excess = r.sqrt(positive(all));
  return {off, own};
}

/// The term of a reflection in the body of the sum over all but the draws.
bool ReflectionTabulator::addTerm(ArrayRef<Value> reflection) {
  auto crystal = drawn.crystal(r);
  if (failed(crystal))
    return false;
  Value node = r.vec(reflection[0], reflection[1], reflection[2]);
  Value zero = r.constant(b.getF64Type(), 0);
  SpotPoint point;
  Value inverse = r.reciprocal(nominal), one = r.constant(b.getF64Type(), 1);
  for (auto [k, variable] : llvm::enumerate(drawn.normals())) {
    point.normals.push_back(zero);
    if (start && DeviateOp(variable.deviate).getTable() == argument("draw_wavelength"))
      wave = k;
  }
  point.uniforms = {zero, zero};
  if (turns)
    point.uniforms.push_back(turn);
  if (wave) {
    centre = r.div(r.sub(r.mul(start, inverse), one), argument("bandwidth_sigma"));
    if (!narrowWavelengths(*crystal, point))
      return false;
  }
  DrawnSum::Linear linear;
  std::optional<PlaneSpot> spot;
  for (int step = 0; step <= linearizations; ++step) {
    if (spot)
      point = spot->brightest(quadrature.exponent);
    auto found = linearAt(point, wavelength);
    if (failed(found))
      return false;
    linear = std::move(*found);
    linear.spot.distance = r.sub(linear.spot.distance, node);
    spot.emplace(crystal->shape, linear.spot, point, part, r);
  }
  const auto factorAt = [&](Value f, Value s, Value at, Value of) {
    return drawn.bodyWith(of, node, r,
                          {{fast, r.add(fast, f)}, {slow, r.add(slow, s)}, {wavelength, at}});
  };
  auto bend = bendOf(*spot, *crystal, point, linear, node, factorAt);
  if (failed(bend))
    return false;
  SpotMoments m = spot->moments(quadrature, *bend);
  // The wavelength of the light, as a part of the nominal one.
  Value shift = r.sub(r.mul(linear.other, inverse), one), variance = zero;
  SmallVector<Value> slopes;
  for (Value by : linear.otherByNormals)
    slopes.push_back(by ? r.mul(by, inverse) : Value());
  PlaneSpot::Normal normal = spot->ofNormals(slopes, m);
  if (normal.mean) {
    for (auto [slope, at] : llvm::zip(slopes, point.normals))
      if (slope)
        shift = r.sub(shift, r.mul(slope, at));
    shift = r.add(shift, normal.mean);
    variance = normal.variance;
  }
  const auto lightAt = [&](Value relative) {
    return factorAt(m.place[0], m.place[1], r.mul(nominal, r.add(one, relative)),
                    r.mul(crystal->peak, m.light));
  };
  Value light;
  if (!start)
    light = lightAt(shift);
  else
    light = lightOfSpectrum(m, shift, variance, normal.covariance, lightAt);
  Value weight = r.add(light, r.mul(r.mul(crystal->peak, m.light), weightOfDark));
  const auto [f, s] = m.place;
  SmallVector<Value> terms(Sums);
  const auto put = [&](Sum which, Value value) { terms[which] = r.mul(weight, value); };
  terms[Light] = light;
  terms[Weight] = weight;
  put(Partiality, m.partiality);
  put(Fast, f);
  put(Slow, s);
  put(FastFast, r.add(m.ff, r.mul(f, f)));
  put(FastSlow, r.add(m.fs, r.mul(f, s)));
  put(SlowSlow, r.add(m.ss, r.mul(s, s)));
  const auto orZero = [&](Value value) { return value ? value : zero; };
  Value turned = orZero(m.turn);
  put(Turn, turned);
  put(TurnTurn, r.add(orZero(m.turnVariance), r.mul(turned, turned)));
  put(Shift, shift);
  put(ShiftShift, r.add(variance, r.mul(shift, shift)));
  for (auto [i, skew] : llvm::enumerate(m.skew))
    put(Sum(Skew + i), skew);
  put(Excess, orZero(m.excess));
  put(Motion, orZero(m.motion));
  put(Brightest, m.brightest ? m.brightest : m.partiality);
  YieldOp::create(b, sum.getLoc(), terms);
  return true;
}

/// The columns from the sums, in the place of the image's value.
void ReflectionTabulator::addColumns(SumOp outer) {
  Location loc = sum.getLoc();
  Type f64 = b.getF64Type();
  b.setInsertionPointAfter(outer);
  Value inverse = inverseOf(outer.getResult(Weight));
  const auto mean = [&](Sum which) { return r.mul(outer.getResult(which), inverse); };
  Value f = mean(Fast), s = mean(Slow), shift = mean(Shift);
  const auto covariance = [&](Sum which, Value x, Value y) {
    return r.sub(mean(which), r.mul(x, y));
  };
  Value photons = r.mul(outer.getResult(Light), drawn.draws(r));
  Value centreFast = r.add(fast, f), centreSlow = r.add(slow, s);
  Operation *last = centreSlow.getDefiningOp();
  // Factors of the whole pixel are taken at the spot's centre.
  for (auto [pixel, centre] : {std::pair(fast, centreFast), std::pair(slow, centreSlow)})
    pixel.replaceUsesWithIf(centre, [&](OpOperand &use) {
      Operation *user = image.getBody().findAncestorOpInRegion(*use.getOwner());
      return user && last->isBeforeInBlock(user);
    });
  sum.getResult(0).replaceAllUsesWith(photons);
  sum.erase();

  auto yield = cast<YieldOp>(image.getBodyBlock()->getTerminator());
  b.setInsertionPoint(yield);
  // Where the factors of the whole pixel rise, the mean is farther.
  Value whole = yield.getValues()[0];
  SmallVector<Operation *> factors;
  for (Operation *op = last->getNextNode(); op != yield; op = op->getNextNode())
    factors.push_back(op);
  const auto riseAlong = [&](Value centre) {
    IRMapping mapping;
    mapping.map(centre, plus(centre, 1, r));
    for (Operation *op : factors)
      b.clone(*op, mapping);
    Value there = mapping.lookupOrDefault(whole);
    return r.div(r.sub(there, whole), maximum(whole, r.constant(whole.getType(), leastLight), r));
  };
  Value ff = covariance(FastFast, f, f), fs = covariance(FastSlow, f, s),
        ss = covariance(SlowSlow, s, s);
  Value riseFast = riseAlong(centreFast), riseSlow = riseAlong(centreSlow);
  const auto moved = [&](Value centre, Value byFast, Value bySlow) {
    return plus(r.add(centre, r.add(r.mul(byFast, riseFast), r.mul(bySlow, riseSlow))), 0.5, r);
  };
  Value angle = argument("phi0");
  if (Value step = argument("osc"); step && turns)
    angle = r.add(angle, r.mul(step, plus(mean(Turn), 0.5, r)));
  Value spread = maximum(covariance(ShiftShift, shift, shift), r.constant(f64, leastVariance), r);
  SmallVector<Value> columns{yield.getValues()[0],
                             mean(Partiality),
                             moved(centreFast, ff, fs),
                             moved(centreSlow, fs, ss),
                             angle,
                             ff,
                             fs,
                             ss,
                             r.mul(nominal, plus(shift, 1, r)),
                             r.mul(nominal, r.sqrt(spread))};
  for (unsigned i = 0; i != 4; ++i)
    columns.push_back(mean(Sum(Skew + i)));
  Value turning = covariance(TurnTurn, mean(Turn), mean(Turn));
  columns.append({mean(Excess), mean(Motion), mean(Turn),
                  r.sqrt(maximum(turning, r.constant(f64, leastVariance), r)), mean(Brightest)});
  Type pixel = columns[0].getType();
  for (Value &column : columns)
    if (column.getType() != pixel)
      column = arith::TruncFOp::create(b, loc, pixel, column);
  yield.getValuesMutable().assign(columns);
}

bool ReflectionTabulator::run() {
  if (!findProgram())
    return false;
  SmallVector<Value> reflection;
  for (StringRef list : {"reflection_h", "reflection_k", "reflection_l"})
    reflection.push_back(pixelOf(list));
  if (llvm::is_contained(reflection, Value()))
    return refuse(sum, "the function has no arguments 'reflection_h', 'reflection_k' and "
                       "'reflection_l'");
  start = pixelOf("reflection_wavelength");
  if (turns || start) {
    part = {pixelOf("reflection_begin"), pixelOf("reflection_end")};
    if (!part.begin || !part.end)
      return refuse(sum, "the function has no arguments 'reflection_begin' and 'reflection_end'");
  }
  if (turns && !(turn = pixelOf("reflection_turn")))
    return refuse(sum, "the function has no argument 'reflection_turn'");
  nominal = argument("wavelength");
  if (Value listed = argument("source_wavelength"); listed && !nominal) {
    Value first = arith::ConstantIndexOp::create(b, sum.getLoc(), 0);
    nominal = LookupOp::create(b, sum.getLoc(), listed, ValueRange{first});
  }
  if (!nominal)
    return refuse(sum, "the function has no argument 'wavelength' or 'source_wavelength'");
  SumOp outer = drawn.beginOuter(Sums);
  if (!addTerm(reflection))
    return refuse(sum, "a derivative is missing");
  addColumns(outer);

  OpBuilder at(image);
  SmallVector<Type> types(nanobragg::programColumns.size(), image->getResult(0).getType());
  Operation *table = LoopOp(image).takeWithResults(at, types);
  Operation *result = func.getBody().front().getTerminator();
  image->getResult(0).replaceAllUsesWith(table->getResult(0));
  image->erase();
  result->setOperands(table->getResults());
  func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
  for (auto [i, column] : llvm::enumerate(nanobragg::programColumns))
    func.setResultAttr(unsigned(i), names::name, at.getStringAttr(column.name));
  return true;
}

} // namespace

bool nb::tabulateReflections(DrawnSum &drawn, SumOp sum, func::FuncOp func,
                             const Quadrature &quadrature) {
  return ReflectionTabulator(drawn, sum, func, quadrature).run();
}
