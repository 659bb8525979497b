#include "dialect/Names.h"
#include "dialect/PassStatistics.h"
#include "lib/Transforms/Averages/CurvedPixel.h"
#include "lib/Transforms/Averages/DrawnSum.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Reach/CullAverages.h"
#include "lib/Transforms/Reach/CullSupport.h"
#include "lib/Transforms/Reach/ReachWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#include <array>
#include <cmath>
#include <tuple>

#define DEBUG_TYPE "nb-cull"

namespace mlir::nb {
#define GEN_PASS_DEF_CULL
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;
using nanobragg::CulledProgram;
using nanobragg::CullSetting;

namespace {
class Culler : ReachWriter {
public:
  Culler(ImageOp image, FunctionOpInterface func, const CulledProgram &program)
      : ReachWriter(image), func(func), program(program) {}
  /// Returns whether samples are left out.
  bool run();

private:
  void findReflections();
  bool runOnAverages(ReachOp reach);
  bool isOfSpots();
  void runOnSpots();
  Value tableOfListedPixels(function_ref<Value(StringRef)> argument);

  // Deciding. Each is false where nothing can be left out, and says why in `why` and `where`.
  bool findLight();
  bool findGeometry();
  bool splitLoops();
  bool vanishes();

  bool vanishes(Value value);
  std::optional<unsigned> lastLoopOf(Value value, bool first = false);
  bool isOfPanel();

  // Rewriting.
  enum Pixels { None, OfPanels, All };
  /// Values that a table has in place of others.
  using Numbers = SmallVector<std::pair<Value, double>>;
  Value tabulate(Value value, ArrayRef<ImageLoop> over, Pixels pixels = None,
                 const Numbers &at = {});
  void addFlatPanels(ArrayRef<ImageLoop> layers, ReachTables &tables);
  void addCurvedPanels(ArrayRef<ImageLoop> layers, ReachTables &tables);
  void rewrite();

  FunctionOpInterface func;
  CulledProgram program;
  Support support;
  MillerIndexOp index;
  ScatteringVectorOp scattering;
  Value direction;                   ///< the diffracted ray's
  PixelPositionOp position;          ///< a point of a flat panel
  std::optional<CurvedPixel> curved; ///< for a curved panel; neither: only directions are known
  DetectorCoordinateOp fast;
  llvm::SetVector<Value> light;           ///< values that vanish where the sample has no light
  SmallVector<ImageLoop> loops;           ///< around a sample, outer ones first
  unsigned firstBeam = 0, firstBasis = 0; ///< among the loops
  DenseMap<Value, bool> vanishing;
  bool dark = true; ///< all that the image yields vanishes
};
} // namespace

/// Where light comes from: ops with a support, all of one Miller index.
bool Culler::findLight() {
  SmallVector<Operation *> candidates;
  image.getBody().walk([&](Operation *op) {
    if (isa<LatticeFactorOp, math::ExpOp, GratingOp, BallOp, arith::SelectOp>(op))
      candidates.push_back(op);
  });
  for (Operation *op : candidates) {
    std::string reason;
    auto found = supportOf(op, image, program, b, reason);
    if (!found) {
      if (!reason.empty())
        return refuse(op, reason);
      continue; // an exponential or a choice of something else
    }
    if (!light.empty() && found->hkl != support.hkl)
      return refuse(op, "it takes another Miller index than the lattice factors before it");
    support = *found;
    light.insert(op->getResult(0));
  }
  if (light.empty())
    return refuse(image, "there is no lattice factor in it");
  index = support.hkl.getDefiningOp<MillerIndexOp>();
  if (!index)
    return refuse(light.front().getDefiningOp(), "its index is not made by nb.miller_index");
  for (Value value : light)
    if (value.getParentBlock() != index->getBlock())
      return refuse(value.getDefiningOp(), "it stands in another loop than its Miller index");
  return true;
}

/// From the Miller index to the pixel.
bool Culler::findGeometry() {
  if (!elementTypeOf(index.getType()).isF64())
    return refuse(index, "Miller indices are in single precision");
  scattering = index.getScatteringVector().getDefiningOp<ScatteringVectorOp>();
  if (!scattering)
    return refuse(index, "its scattering vector is not made by nb.scattering_vector");
  direction = scattering.getDiffracted();
  auto unit = direction.getDefiningOp<NormalizeOp>();
  position = unit ? unit.getOperand().getDefiningOp<PixelPositionOp>() : nullptr;
  if (!position || !isOfPanel())
    position = nullptr;
  // Samples of a grating are looked at one by one, in the directions that the program gives them.
  if (!position && support.grating == 0)
    curved = curvedPixelOf(direction, image);
  if (curved)
    fast = curved->fast;
  return true;
}

/// Does the pixel stand where its number says, on a flat panel?
bool Culler::isOfPanel() {
  fast = position.getFast().getDefiningOp<DetectorCoordinateOp>();
  auto slow = position.getSlow().getDefiningOp<DetectorCoordinateOp>();
  auto ivs = image.getInductionVars();
  Value panel = ivs[0];
  return fast && slow && fast.getPixel() == ivs[2] && slow.getPixel() == ivs[1] &&
         fast.getPixelSize() == slow.getPixelSize() &&
         fast.getOversample() == slow.getOversample() && !isDefinedIn(fast.getPixelSize(), image) &&
         !isDefinedIn(fast.getOversample(), image) &&
         llvm::none_of(ArrayRef<Value>{position.getOrigin(), position.getFastAxis(),
                                       position.getSlowAxis(), position.getNormal()},
                       [&](Value v) { return dependsOnPixel(v, panel); });
}

/// The last loop that `value` depends on, or the first; its number, none: on no loop.
std::optional<unsigned> Culler::lastLoopOf(Value value, bool first) {
  std::optional<unsigned> found;
  DenseSet<Value> seen;
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second || !isDefinedIn(next, image))
      continue;
    for (auto [i, loop] : llvm::enumerate(loops))
      if (loop.iv() == next)
        found = !found  ? unsigned(i)
                : first ? std::min(*found, unsigned(i))
                        : std::max(*found, unsigned(i));
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(worklist, inputsOf(op));
  }
  return found;
}

/// Which loops run over beams, which over bases.
bool Culler::splitLoops() {
  if (!findLoops(index->getParentOp(), "a sample", loops))
    return false;
  SmallVector<Value> beam{scattering.getIncident(), scattering.getWavelength()};
  if (auto last = lastLoopOf(direction))
    firstBeam = *last + 1;
  firstBasis = firstBeam;
  for (Value value : beam) {
    auto first = lastLoopOf(value, /*first=*/true);
    if (first && *first < firstBeam)
      return refuse(scattering, "the beam varies in a loop around those over sub-pixels");
    if (auto last = lastLoopOf(value))
      firstBasis = std::max(firstBasis, *last + 1);
  }
  auto first = lastLoopOf(index.getDirect(), /*first=*/true);
  if (first && *first < firstBasis)
    return refuse(index, "the basis varies in a loop around that over beams");
  // The runtime's lists number all beams together, and all bases.
  for (auto [begin, end, of] : {std::tuple(firstBeam, firstBasis, "beams"),
                                std::tuple(firstBasis, unsigned(loops.size()), "bases")})
    for (unsigned i = begin; i + 1 < end; ++i)
      if (loops[i].sum != loops[i + 1].sum)
        return refuse(loops[i + 1].sum,
                      Twine("the loops over ") + of +
                          " are in two sums, of which the second depends on the first; "
                          "nb-tabulate-invariants and nb-fuse make one of them");
  Value panel = image.getInductionVars()[0];
  SmallVector<Value> outer, inner, depths{panel}, layers{panel};
  for (auto [i, loop] : llvm::enumerate(loops)) {
    (i < firstBeam ? depths : i < firstBasis ? outer : inner).push_back(loop.iv());
    if (i < firstBeam && loop.dimension() == Dimension::layer)
      layers.push_back(loop.iv());
  }
  for (Value value : beam)
    if (dependsOnPixel(value, outer))
      return refuse(scattering, "the beam is not the same for all pixels");
  if (dependsOnPixel(index.getDirect(), inner))
    return refuse(index, "the basis is not the same for all pixels");
  ArrayRef<Value> ofAllPanels = ArrayRef(layers).drop_front();
  if (position && dependsOnPixel(position.getDepth(), ofAllPanels))
    position = nullptr;
  if (curved && ((curved->depth && dependsOnPixel(curved->depth, ofAllPanels)) ||
                 dependsOnPixel(curved->point.getDistance(), layers)))
    curved.reset();
  llvm::append_range(depths, image.getInductionVars().drop_front());
  if (!position && !curved && dependsOnPixel(direction, depths))
    return refuse(scattering, "its direction is not known ahead of the image");
  return true;
}

/// Is this zero, and so is all that is made of it by products, where a sample has no light?
bool Culler::vanishes(Value value) {
  if (light.contains(value) || matchPattern(value, m_AnyZeroFloat()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isDefinedIn(value, image))
    return false;
  if (auto known = vanishing.find(value); known != vanishing.end())
    return known->second;
  auto any = [&] { return llvm::any_of(op->getOperands(), [&](Value v) { return vanishes(v); }); };
  auto all = [&] { return llvm::all_of(op->getOperands(), [&](Value v) { return vanishes(v); }); };
  auto first = [&] { return vanishes(op->getOperand(0)); };
  bool result = false;
  if (isa<arith::MulFOp, ScaleOp, DotOp, CrossOp, OuterOp, TransformOp, MultiplyOp, IntensityOp>(
          op))
    result = any();
  else if (isa<arith::AddFOp, arith::SubFOp, AddOp, SubOp, VecOp, MatOp>(op))
    result = all();
  else if (isa<arith::NegFOp, arith::TruncFOp, arith::ExtFOp, math::AbsFOp, ComponentOp, ElementOp,
               TransposeOp, arith::DivFOp, ScatterOp, ScatterFactorOp>(op))
    result = first();
  else if (isa<arith::SelectOp>(op))
    result = vanishes(op->getOperand(1)) && vanishes(op->getOperand(2));
  else if (auto sum = dyn_cast<SumOp>(op))
    result = vanishes(sum.getYield()->getOperand(cast<OpResult>(value).getResultNumber()));
  vanishing[value] = result;
  return result;
}

/// All that the lit sums add up.
bool Culler::vanishes() {
  for (unsigned i = firstBeam; i < loops.size(); ++i)
    for (Value yielded : loops[i].sum.getYield().getValues())
      if (!vanishes(yielded)) {
        Operation *op = yielded.getDefiningOp();
        return refuse(op && isDefinedIn(yielded, image) ? op : loops[i].sum.getOperation(),
                      "a term of the sum is not zero without light");
      }
  for (Value yielded : image.getYield().getValues())
    dark &= vanishes(yielded);
  return true;
}

/// A table of `value` over panels or all pixels, and over loops; of one entry where there is none.
Value Culler::tabulate(Value value, ArrayRef<ImageLoop> over, Pixels pixels, const Numbers &at) {
  constexpr Dimension ofImage[] = {Dimension::panel, Dimension::slow, Dimension::fast};
  const unsigned rank = pixels == All ? 3 : pixels == OfPanels ? 1 : 0;
  Counts counts;
  for (unsigned i = 0; i != rank; ++i)
    counts.push_back({image.getCounts()[i], ofImage[i]});
  llvm::append_range(counts, countsOf(over));
  return ReachWriter::tabulate(value.getLoc(), value.getType(), counts, [&](ValueRange ivs) {
    IRMapping mapping;
    for (auto [value, number] : at)
      mapping.map(value, constant(number));
    for (unsigned i = 0; i != rank; ++i)
      mapping.map(image.getInductionVars()[i], ivs[i]);
    for (auto [i, loop] : llvm::enumerate(over))
      mapping.map(loop.iv(), ivs[rank + i]);
    auto copy = [&](auto &&self, Value v) -> Value {
      if (mapping.contains(v) || !isDefinedIn(v, image))
        return mapping.lookupOrDefault(v);
      for (Value operand : v.getDefiningOp()->getOperands())
        self(self, operand);
      b.clone(*v.getDefiningOp(), mapping);
      return mapping.lookup(v);
    };
    return copy(copy, value);
  });
}

void Culler::addFlatPanels(ArrayRef<ImageLoop> layers, ReachTables &tables) {
  addPlace(position, tables, [&](Value value) { return tabulate(value, {}, OfPanels); });
  tables[&nb_reach_tables::depth] = tabulate(position.getDepth(), layers);
}

/// The angles are polynomials of degree one: their values at four points say all of them.
void Culler::addCurvedPanels(ArrayRef<ImageLoop> layers, ReachTables &tables) {
  CurvedPositionOp point = curved->point;
  OpBuilder inside(point);
  Value zero = arith::ConstantOp::create(inside, loc, inside.getF64FloatAttr(0));
  auto angles = VecOp::create(inside, loc, point.getBeam().getType(), point.getAboutSlow(),
                              point.getAboutFast(), zero);
  const auto anglesAt = [&](double fast, double slow, double depth) {
    Numbers at{{curved->fast, fast}, {curved->slow, slow}};
    if (curved->depth)
      at.push_back({curved->depth, depth});
    return tabulate(angles, {}, OfPanels, at);
  };
  tables[&nb_reach_tables::origin] = anglesAt(0, 0, 0);
  tables[&nb_reach_tables::fast_axis] = anglesAt(1, 0, 0);
  tables[&nb_reach_tables::slow_axis] = anglesAt(0, 1, 0);
  tables[&nb_reach_tables::normal] = anglesAt(0, 0, 1);
  tables[&nb_reach_tables::depth] = tabulate(curved->depth ? curved->depth : zero, layers);
  tables[&nb_reach_tables::curved_beam] = tabulate(point.getBeam(), {}, OfPanels);
  tables[&nb_reach_tables::curved_fast] = tabulate(point.getFastAxis(), {}, OfPanels);
  tables[&nb_reach_tables::curved_slow] = tabulate(point.getSlowAxis(), {}, OfPanels);
  tables[&nb_reach_tables::radius] = tabulate(point.getDistance(), layers, OfPanels);
  angles.erase();
  zero.getDefiningOp()->erase();
}

void Culler::rewrite() {
  ArrayRef<ImageLoop> all(loops);
  ArrayRef<ImageLoop> depths = all.take_front(firstBeam);
  ArrayRef<ImageLoop> beams = all.slice(firstBeam, firstBasis - firstBeam);
  ArrayRef<ImageLoop> bases = all.drop_front(firstBasis);
  // Only those loops that the depth depends on.
  SmallVector<ImageLoop> layers;
  Value panel = image.getInductionVars()[0];
  const bool hasDepths =
      position ? dependsOnPixel(position.getDepth(), {})
               : curved && (curved->depth || dependsOnPixel(curved->point.getDistance(), panel));
  for (const ImageLoop &loop : depths)
    if (hasDepths && loop.dimension() == Dimension::layer)
      layers.push_back(loop);

  Value orientations = tabulate(index.getDirect(), bases);
  Value wavelengths = tabulate(scattering.getWavelength(), beams);
  // A table of which no entry is read is that of wavelengths.
  ReachTables tables(wavelengths);
  tables[&nb_reach_tables::direct] = orientations;
  tables[&nb_reach_tables::incident] = tabulate(scattering.getIncident(), beams);
  if (position)
    addFlatPanels(layers, tables);
  else if (curved)
    addCurvedPanels(layers, tables);
  else
    tables[&nb_reach_tables::direction] = tabulate(direction, depths, All);

  using N = nb_reach_numbers;
  ReachNumbers numbers = numbersOfImage();
  numbers[&N::beams] = countOf(beams);
  numbers[&N::bases] = countOf(bases);
  numbers[&N::group] = bases.empty() ? constant(1) : number(bases.back().count());
  numbers[&N::depths] = countOf(layers);
  const bool hasPanels = position || curved;
  numbers[&N::oversample] = hasPanels ? number(fast.getOversample()) : constant(1);
  numbers[&N::pixel_size] = hasPanels ? fast.getPixelSize() : constant(1);
  numbers[&N::directions] = hasPanels ? constant(0) : countOf(depths);
  numbers[&N::curved] = constant(curved.has_value());
  llvm::copy(support.form, numbers[&N::form].begin());
  numbers[&N::grating] = constant(support.grating);
  if (support.grating > 0)
    llvm::copy(support.cells, numbers[&N::cells].begin());
  // A derivative is large where its grating is zero.
  numbers[&N::fringes] = constant(!program.derives && llvm::all_of(light, [](Value factor) {
    return isa<LatticeFactorOp>(factor.getDefiningOp());
  }));
  numbers[&N::dark] = constant(dark);
  // Its first table is that of the numbers.
  ReachOp::create(b, loc, numbers.all(), tables.all().drop_front());

  image->setAttr(names::lit, b.getUnitAttr());
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (i < firstBeam)
      continue;
    auto old = loop.sum->getAttrOfType<DenseI64ArrayAttr>(names::lit);
    SmallVector<int64_t> kinds(loop.sum.getCounts().size(), runsWhole);
    if (old)
      kinds.assign(old.asArrayRef().begin(), old.asArrayRef().end());
    kinds[loop.position] = i < firstBasis ? runsOverBeams : runsOverBases;
    loop.sum->setAttr(names::lit, b.getDenseI64ArrayAttr(kinds));
  }
}

/// Light comes from sums over reflections.
void Culler::findReflections() {
  image.getBody().walk([&](SumOp sum) {
    for (unsigned i = 0; i != sum.getCounts().size(); ++i)
      if (sum.getDimension(i) == Dimension::reflection)
        light.insert(sum->result_begin(), sum->result_end());
  });
  for (Value yielded : image.getYield().getValues())
    dark &= vanishes(yielded);
}

/// The image of a table of spots has their places and sizes as arguments.
bool Culler::isOfSpots() {
  auto owner = dyn_cast<func::FuncOp>(func.getOperation());
  return owner && argumentNamed(owner, "spot_fast");
}

/// Fast, slow and panel of each pixel of a list.
Value Culler::tableOfListedPixels(function_ref<Value(StringRef)> argument) {
  Counts counts;
  constexpr Dimension dimensions[] = {Dimension::panel, Dimension::slow, Dimension::fast};
  for (auto [count, dimension] : llvm::zip(image.getCounts(), dimensions))
    counts.push_back({count, dimension});
  Type f64 = b.getF64Type();
  return ReachWriter::tabulate(loc, Vec3Type::get(f64), counts, [&](ValueRange at) -> Value {
    const auto read = [&](StringRef name) -> Value {
      Value map = argument(name);
      return map ? ReadPixelOp::create(b, loc, f64, map, at[0], at[1], at[2]).getResult()
                 : constant(0);
    };
    return RuleBuilder(b, loc).vec(read("pixel_fast"), read("pixel_slow"), read("pixel_panel"));
  });
}

/// A spot ends where its light has fallen off to the tolerance times the peak that its reflection
/// has on the Ewald sphere.
void Culler::runOnSpots() {
  findReflections();
  using N = nb_reach_numbers;
  using T = nb_reach_tables;
  auto owner = cast<func::FuncOp>(func.getOperation());
  const auto argument = [&](StringRef name) { return argumentNamed(owner, name); };
  Value count = argument("spots");
  RuleBuilder r(b, loc);
  const auto tableOf = [&](function_ref<Value(StringRef, Value)> component,
                           std::array<StringRef, 3> names) {
    return ReachWriter::tabulate(loc, Vec3Type::get(b.getF64Type()),
                                 {{count, Dimension::reflection}}, [&](ValueRange spot) -> Value {
                                   SmallVector<Value> components;
                                   for (StringRef name : names)
                                     components.push_back(component(name, spot[0]));
                                   return r.vec(components[0], components[1], components[2]);
                                 });
  };
  const auto entry = [&](StringRef name, Value spot) -> Value {
    return LookupOp::create(b, loc, argument(name), ValueRange{spot}, /*inbounds=*/true);
  };
  const double bound =
      program.setting.isExact() ? exactBound : -std::log(program.setting.tolerance());
  // A reflection off the Ewald sphere has less of it left.
  const auto extent = [&](StringRef name, Value spot) -> Value {
    Value left = arith::MaximumFOp::create(b, loc, constant(0),
                                           r.sub(constant(bound), entry("spot_depth", spot)));
    return r.sqrt(r.mul(r.mul(left, 2), entry(name, spot)));
  };
  const auto shape = [&](StringRef name, Value spot) -> Value {
    if (name != "spot_fast_slow")
      return extent(name, spot);
    Value variances = r.mul(entry("spot_fast_fast", spot), entry("spot_slow_slow", spot));
    return r.div(entry(name, spot), r.sqrt(variances));
  };
  Value place = tableOf(entry, {"spot_fast", "spot_slow", "spot_panel"});
  ReachTables tables(place); // a table of which no entry is read is that of places
  tables[&T::spot_extent] = tableOf(shape, {"spot_fast_fast", "spot_slow_slow", "spot_fast_slow"});
  ReachNumbers numbers = numbersOfImage();
  numbers[&N::spots] = numbers[&N::beams] = numbers[&N::depths] = numbers[&N::oversample] =
      numbers[&N::pixel_size] = constant(1);
  numbers[&N::bases] = number(count);
  if (argument("pixel_fast")) { // a list
    numbers[&N::directions] = constant(1);
    tables[&T::direction] = tableOfListedPixels(argument);
  }
  numbers[&N::dark] = constant(dark);
  ReachOp::create(b, loc, numbers.all(), tables.all().drop_front());
  image->setAttr(names::lit, b.getUnitAttr());
  for (Value sum : light)
    sum.getDefiningOp()->setAttr(names::lit, b.getDenseI64ArrayAttr({runsOverBases}));
  nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "culled", func))
      << "spots are added to the pixels that they light; pixels without light are " +
             std::string(dark ? "not computed" : "computed, since they are not zero");
}

/// Averages: what is to be found has been written when they were closed.
bool Culler::runOnAverages(ReachOp reach) {
  findReflections();
  if (!cullAverages(image, reach, where, why)) {
    reach.erase();
    nb::remarkMissed(where->getLoc(), remarkOf(DEBUG_TYPE, "not-culled", func))
        << "all reflections about the nearest are added up: " + why;
    LDBG() << "not culled: " << why;
    return false;
  }
  ReachNumbers numbers(reach.getNumbers());
  numbers[&nb_reach_numbers::dark] = constant(dark);
  reach.getNumbersMutable().assign(numbers.all());
  reach->moveBefore(image);
  nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "culled", func))
      << "reflections without light are left out; pixels without light are " +
             std::string(dark ? "not computed" : "computed, since they are not zero");
  return true;
}

bool Culler::run() {
  if (ReachOp reach = averageReachOf(image))
    return runOnAverages(reach);
  if (isOfSpots()) {
    runOnSpots();
    return true;
  }
  if (!findLight() || !findGeometry() || !splitLoops() || !vanishes()) {
    nb::remarkMissed(where->getLoc(), remarkOf(DEBUG_TYPE, "not-culled", func))
        << "no sample is left out: " + why;
    LDBG() << "not culled: " << why;
    return false;
  }
  rewrite();
  nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "culled", func))
      << "samples without light are left out, by " + Twine(light.size()).str() +
             " factor(s) that vanish away from reflections; pixels without light are " +
             (dark ? "not computed" : "computed, since they are not zero");
  return true;
}

namespace {
struct CullPass : nb::impl::CullBase<CullPass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) {
      SmallVector<ImageOp> images;
      func->walk([&](ImageOp image) { images.push_back(image); });
      if (images.empty())
        return;
      auto wanted = func->getAttrOfType<FloatAttr>(names::cull);
      if (!wanted) {
        nb::remarkMissed(func.getLoc(), remarkOf(DEBUG_TYPE, "not-asked", func)) << remark::add(
            "no sample is left out: the function has no attribute '{0}', a tolerance", names::cull);
        return;
      }
      const double tolerance = wanted.getValueAsDouble();
      CulledProgram program{.setting = tolerance > 0 ? CullSetting::below(tolerance)
                                                     : CullSetting::exact()};
      for (ImageOp image : images) {
        if (image->hasAttr(names::lit)) // done before
          continue;
        program.derives = image.getNumResults() > 1;
        program.toSingle = llvm::all_of(image.getResultTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return tensor && tensor.getElementType().isF32();
        });
        ++(Culler(image, func, program).run() ? culled : complete);
      }
    });
  }
};
} // namespace
