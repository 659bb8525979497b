#include "lib/Transforms/TabulateReflections.h"

#include "dialect/Names.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/SpotMoments.h"
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
/// A reflection without a structure factor has a place all the same.
constexpr double weightOfDark = 1e-200;

class Tabulator {
public:
  Tabulator(DrawnSum &drawn, SumOp sum, func::FuncOp func, const Quadrature &quadrature)
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
  Value endOfSpectrum(bool isLast);
  Value lightOfSpectrum(SpotMoments &m, Value &shift, Value &variance,
                        const std::array<Value, 2> &covariance,
                        llvm::function_ref<Value(Value shift)> lightAt);
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
  Value turn;    ///< where in the step it is expected
  StepPart part; ///< the part of the step whose light is asked for
};

/// The pixel's number in a list among the function's arguments.
Value Tabulator::pixelOf(StringRef list) {
  Value found = argument(list);
  return found ? Value(ReadPixelOp::create(b, sum.getLoc(), b.getF64Type(), found,
                                           image.getInductionVars()[0], image.getInductionVars()[1],
                                           image.getInductionVars()[2]))
               : Value();
}

bool Tabulator::findProgram() {
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
SpotPoint Tabulator::drawnAt(SpotPoint point) {
  if (wave) {
    Value &of = point.normals[*wave];
    of = of ? r.add(centre, r.mul(narrow, of)) : centre;
  }
  return point;
}

FailureOr<DrawnSum::Linear> Tabulator::linearAt(const SpotPoint &point, Value other) {
  auto found = drawn.linearAt(drawnAt(point), r, other);
  if (wave && succeeded(found)) {
    Value &by = found->spot.byNormals[*wave];
    by = r.scale(by, narrow);
    if (other && found->otherByNormals[*wave])
      found->otherByNormals[*wave] = r.mul(found->otherByNormals[*wave], narrow);
  }
  return found;
}

/// Narrows the wavelength's variable to some times the range that the spot takes by all others,
/// wherever it is on the detector: along the normal of the plane that the place moves the Miller
/// index in.
bool Tabulator::narrowWavelengths(const DrawnSum::Crystal &crystal, const SpotPoint &middle) {
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
  narrow = r.sqrt(square);
  // A spot of all wavelengths, as the direct beam is, has the program's own draws.
  centre = r.mul(centre, r.sub(one, square));
  return true;
}

/// By what is seen a standard deviation away from the spot's middle. The factors of the whole pixel
/// have their slopes later.
FailureOr<PlaneSpot::Bend> Tabulator::bendOf(PlaneSpot &spot, const DrawnSum::Crystal &crystal,
                                             const SpotPoint &point, const DrawnSum::Linear &about,
                                             Value node, FactorAt factorAt) {
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

/// The first or the last wavelength of the spectrum as the shift from the nominal one.
Value Tabulator::endOfSpectrum(bool isLast) {
  Location loc = sum.getLoc();
  Value zero = r.constant(b.getF64Type(), 0), place = zero;
  if (isLast) {
    Value count = arith::IndexCastOp::create(b, loc, b.getI64Type(), argument("spectrum_nodes"));
    place = plus(arith::SIToFPOp::create(b, loc, b.getF64Type(), count), -1, r);
  }
  Value end = StructureFactorOp::create(b, loc, b.getF64Type(), Interpolation::nearest,
                                        argument("spectrum_wavelength"), r.vec(zero, zero, place),
                                        zero, /*integral=*/true);
  return plus(r.mul(end, r.reciprocal(nominal)), -1, r);
}

/// The light of the whole spectrum, by a quadrature over the part that the spot may take: of its
/// shift, a normal distribution, times the light at each. Shift, place and shape become those of
/// this light.
Value Tabulator::lightOfSpectrum(SpotMoments &m, Value &shift, Value &variance,
                                 const std::array<Value, 2> &covariance,
                                 llvm::function_ref<Value(Value shift)> lightAt) {
  const auto number = [&](double x) { return r.constant(b.getF64Type(), x); };
  Value sigma = r.sqrt(maximum(variance, number(leastVariance), r));
  Value perSigma = r.reciprocal(sigma);
  constexpr double beyond = 2; // the tails hold less than the tolerance
  Value half = r.mul(sigma, r.sqrt(r.mul(plus(quadrature.exponent, beyond, r), 2)));
  Value begin = maximum(endOfSpectrum(false), r.sub(shift, half), r);
  Value end = maximum(begin, minimum(endOfSpectrum(true), r.add(shift, half), r), r);
  Value length = r.sub(end, begin), center = r.mul(r.add(begin, end), 0.5);
  const double rootOfTwoPi = std::sqrt(2 * std::numbers::pi);
  Value width = argument("bandwidth_sigma"), perWidth = r.reciprocal(width);
  SumOp nodes = sumOverNodes(
      quadrature, Dimension::subslow, 4,
      [&](Value node, Value part) -> SmallVector<Value> {
        Value there = r.add(center, r.mul(length, node));
        Value off = r.mul(r.sub(there, shift), perSigma);
        const auto exponential = [&](Value x, double factor) {
          return r.exp(r.mul(r.mul(x, x), factor));
        };
        Value share = r.mul(part, exponential(off, -0.5));
        // The weight of a draw of the program's over that of one of the narrower distribution.
        Value drawnAs = r.mul(there, perWidth);
        Value own = exponential(r.div(r.sub(drawnAs, centre), narrow), 0.5);
        Value weight = r.mul(narrow, r.mul(own, exponential(drawnAs, -0.5)));
        Value lit = r.mul(r.mul(lightAt(there), weight), share), first = r.mul(lit, off);
        Value at = r.mul(nominal, plus(there, 1, r));
        Value spectrum = r.mul(drawn.valueWith(density, r, {{wavelength, at}}), own);
        return {lit, first, r.mul(first, off), r.mul(spectrum, share)};
      },
      r);
  Value scale = r.mul(length, r.mul(perSigma, 1 / rootOfTwoPi));
  Value light = r.mul(nodes.getResult(0), scale);
  // In parts of the highest density, that of the normal distribution.
  Value perPeak = r.mul(r.mul(nominal, width), rootOfTwoPi);
  m.partiality = r.mul(m.partiality, r.mul(nodes.getResult(3), r.mul(scale, perPeak)));
  Value inverse = r.reciprocal(maximum(nodes.getResult(0), number(leastLight), r));
  Value off = r.mul(nodes.getResult(1), inverse);
  Value wider = plus(r.sub(r.mul(nodes.getResult(2), inverse), r.mul(off, off)), -1, r);
  const std::array<Value, 2> by{r.mul(covariance[0], perSigma), r.mul(covariance[1], perSigma)};
  for (int i = 0; i != 2; ++i)
    m.place[i] = r.add(m.place[i], r.mul(by[i], off));
  m.ff = r.add(m.ff, r.mul(r.mul(by[0], by[0]), wider));
  m.fs = r.add(m.fs, r.mul(r.mul(by[0], by[1]), wider));
  m.ss = r.add(m.ss, r.mul(r.mul(by[1], by[1]), wider));
  shift = r.add(shift, r.mul(sigma, off));
  variance = r.mul(variance, plus(wider, 1, r));
  return light;
}

/// The term of a reflection in the body of the sum over all but the draws.
bool Tabulator::addTerm(ArrayRef<Value> reflection) {
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
  put(Turn, turns ? m.turn : zero);
  put(TurnTurn, turns ? r.add(m.turnVariance, r.mul(m.turn, m.turn)) : zero);
  put(Shift, shift);
  put(ShiftShift, r.add(variance, r.mul(shift, shift)));
  for (auto [i, skew] : llvm::enumerate(m.skew))
    put(Sum(Skew + i), skew);
  put(Excess, turns ? m.excess : zero);
  put(Motion, turns ? m.motion : zero);
  put(Brightest, turns ? m.brightest : m.partiality);
  YieldOp::create(b, sum.getLoc(), terms);
  return true;
}

/// The columns from the sums, in the place of the image's value.
void Tabulator::addColumns(SumOp outer) {
  Location loc = sum.getLoc();
  Type f64 = b.getF64Type();
  b.setInsertionPointAfter(outer);
  Value inverse = r.reciprocal(maximum(outer.getResult(Weight), r.constant(f64, leastLight), r));
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
  columns.append({mean(Excess), mean(Motion),
                  r.sqrt(maximum(turning, r.constant(f64, leastVariance), r)), mean(Brightest)});
  Type pixel = columns[0].getType();
  for (Value &column : columns)
    if (column.getType() != pixel)
      column = arith::TruncFOp::create(b, loc, pixel, column);
  yield.getValuesMutable().assign(columns);
}

bool Tabulator::run() {
  if (!findProgram())
    return false;
  SmallVector<Value> reflection;
  for (StringRef list : {"reflection_h", "reflection_k", "reflection_l"})
    reflection.push_back(pixelOf(list));
  if (llvm::is_contained(reflection, Value()))
    return refuse(sum, "the function has no arguments 'reflection_h', 'reflection_k' and "
                       "'reflection_l'");
  if (turns) {
    turn = pixelOf("reflection_turn");
    part = {pixelOf("reflection_begin"), pixelOf("reflection_end")};
    if (!turn || !part.begin || !part.end)
      return refuse(sum, "the function has no arguments 'reflection_turn', 'reflection_begin' and "
                         "'reflection_end'");
  }
  start = pixelOf("reflection_wavelength");
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
  return Tabulator(drawn, sum, func, quadrature).run();
}
