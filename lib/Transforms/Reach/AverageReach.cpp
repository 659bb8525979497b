#include "lib/Transforms/Reach/AverageReach.h"

#include "dialect/CrystalShapes.h"
#include "lib/Transforms/Derivatives/SliceTangents.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Reach/ReachWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

using namespace mlir;
using namespace mlir::nb;

namespace {

class Writer : ReachWriter {
public:
  Writer(const AveragedSum &average, double bound)
      : ReachWriter(average.sum->getParentOfType<ImageOp>()), average(average), bound(bound) {}
  bool write(Operation *&where, std::string &why);

private:
  using Body = llvm::function_ref<Value(IRMapping &, ValueRange)>;
  Value tabulateMiddle(Location at, Type type, const Counts &counts, Body body);
  Value tabulateFlat(Value value, ArrayRef<ImageLoop> over, bool ofPanels);
  bool findGeometry();
  SmallVector<Value> deviates() const;
  void addPanels(ReachTables &tables, ReachNumbers &numbers);
  bool addBeams(ReachTables &tables, ReachNumbers &numbers);
  void addForm(ReachNumbers &numbers);

  IRMapping inTheMiddle();

  AveragedSum average;
  double bound;
  SmallVector<ImageLoop> beams, layers, subPixels;
  ScatteringVectorOp scattering;
  PixelPositionOp position;
  DetectorCoordinateOp fast;
};

/// All deviates 0.
IRMapping Writer::inTheMiddle() {
  IRMapping mapping;
  for (DeviateOp op : average.deviates)
    mapping.map(op.getResult(), zeroOf(b, loc, op.getType()));
  return mapping;
}

SmallVector<Value> Writer::deviates() const {
  return llvm::map_to_vector(average.deviates,
                             [](DeviateOp op) -> Value { return op.getResult(); });
}

/// A table of what `body` makes of the induction variables in the middle.
Value Writer::tabulateMiddle(Location at, Type type, const Counts &counts, Body body) {
  return tabulate(at, type, counts, [&](ValueRange ivs) {
    IRMapping mapping = inTheMiddle();
    return body(mapping, ivs);
  });
}

/// A table of a value in the middle, over panels and loops.
Value Writer::tabulateFlat(Value value, ArrayRef<ImageLoop> over, bool ofPanels) {
  Counts counts;
  if (ofPanels)
    counts.push_back({image.getCounts()[0], Dimension::panel});
  llvm::append_range(counts, countsOf(over));
  return tabulateMiddle(
      value.getLoc(), value.getType(), counts, [&](IRMapping &mapping, ValueRange ivs) {
        size_t at = 0;
        if (ofPanels)
          mapping.map(image.getInductionVars()[0], ivs[at++]);
        for (const ImageLoop &loop : over)
          mapping.map(loop.iv(), ivs[at++]);
        return Slice(value, deviates(), image).evaluate(b, mapping, {})->results[0];
      });
}

/// The coordinate of a pixel's first edge in what is added to it, or null.
static DetectorCoordinateOp coordinateIn(Value value) {
  while (auto sum = value.getDefiningOp<arith::AddFOp>())
    value = sum.getLhs();
  return value.getDefiningOp<DetectorCoordinateOp>();
}

bool Writer::findGeometry() {
  SmallVector<ImageLoop> loops;
  if (!findLoops(average.sum, "an average", loops))
    return false;
  for (const ImageLoop &loop : loops)
    switch (loop.dimension()) {
    case Dimension::source:
    case Dimension::phi:
      beams.push_back(loop);
      break;
    case Dimension::layer:
      layers.push_back(loop);
      break;
    case Dimension::subslow:
    case Dimension::subfast:
      subPixels.insert(subPixels.begin(), loop);
      break;
    case Dimension::draw:
      break;
    default:
      return refuse(loop.sum, "the average is inside a loop that is not over beams");
    }
  // All between the index and the beam.
  llvm::SetVector<Value> seen;
  seen.insert(average.index.getResult());
  for (size_t i = 0; i != seen.size(); ++i) {
    Value next = seen[i];
    if (!isDefinedIn(next, image) || !next.getDefiningOp())
      continue;
    if (auto op = next.getDefiningOp<ScatteringVectorOp>()) {
      if (scattering && scattering != op)
        return refuse(op, "the index has two scattering vectors");
      scattering = op;
      continue;
    }
    for (Value input : next.getDefiningOp()->getOperands())
      seen.insert(input);
  }
  if (!scattering)
    return refuse(average.index, "the index has no scattering vector");

  Value direction = scattering.getDiffracted();
  auto unit = direction.getDefiningOp<NormalizeOp>();
  position = unit ? unit.getOperand().getDefiningOp<PixelPositionOp>() : nullptr;
  if (position) {
    fast = coordinateIn(position.getFast());
    auto slow = coordinateIn(position.getSlow());
    Value panel = image.getInductionVars()[0];
    SmallVector<Value> ofLayers{panel};
    for (const ImageLoop &loop : layers)
      ofLayers.push_back(loop.iv());
    const bool known = fast && slow && fast.getPixel() == image.getInductionVars()[2] &&
                       slow.getPixel() == image.getInductionVars()[1] &&
                       !isDefinedIn(fast.getPixelSize(), image) &&
                       llvm::all_of(ArrayRef<Value>{position.getOrigin(), position.getFastAxis(),
                                                    position.getSlowAxis(), position.getNormal()},
                                    [&](Value v) { return !dependsOnPixel(v, panel); }) &&
                       !dependsOnPixel(position.getDepth(), ofLayers);
    if (!known)
      position = nullptr;
  }
  return true;
}

void Writer::addPanels(ReachTables &tables, ReachNumbers &numbers) {
  using N = nb_reach_numbers;
  using T = nb_reach_tables;
  numbers[&N::oversample] = constant(1);
  if (position) {
    addPlace(position, tables, [&](Value value) { return tabulateFlat(value, {}, true); });
    tables[&T::depth] = tabulateFlat(position.getDepth(), layers, false);
    numbers[&N::depths] = countOf(layers);
    numbers[&N::pixel_size] = fast.getPixelSize();
    return;
  }
  // The corners of each sub-pixel, at each depth.
  SmallVector<ImageLoop> inPixel(layers);
  llvm::append_range(inPixel, subPixels);
  Value two = arith::ConstantIndexOp::create(b, loc, 2);
  Counts counts = {{image.getCounts()[0], Dimension::panel},
                   {image.getCounts()[1], Dimension::slow},
                   {image.getCounts()[2], Dimension::fast}};
  llvm::append_range(counts, countsOf(inPixel));
  counts.push_back({two, Dimension::subslow});
  counts.push_back({two, Dimension::subfast});
  Value direction = scattering.getDiffracted();
  tables[&T::direction] = tabulateMiddle(
      direction.getLoc(), direction.getType(), counts, [&](IRMapping &mapping, ValueRange ivs) {
        for (auto [iv, own] : llvm::zip(image.getInductionVars(), ivs))
          mapping.map(iv, own);
        for (auto [i, loop] : llvm::enumerate(inPixel))
          mapping.map(loop.iv(), ivs[3 + i]);
        // Which of the uniform variables are the pixel's is said by what the direction depends on;
        // the first that does gets the one corner, the second the other.
        SmallVector<Value> corners(ivs.take_back(2));
        RuleBuilder r(b, loc);
        size_t next = 0;
        for (const Variable &v : average.uniforms) {
          llvm::SetVector<Value> inputs;
          inputs.insert(direction);
          for (size_t i = 0; i != inputs.size(); ++i)
            if (Operation *op = inputs[i].getDefiningOp(); op && isDefinedIn(inputs[i], image))
              for (Value input : op->getOperands())
                inputs.insert(input);
          if (!inputs.contains(DeviateOp(v.deviate).getResult()) || next == corners.size())
            continue;
          mapping.map(DeviateOp(v.deviate).getResult(),
                      r.sub(number(corners[next++]), constant(0.5)));
        }
        return Slice(direction, deviates(), image).evaluate(b, mapping, {})->results[0];
      });
  Value perPixel = constant(4);
  for (const ImageLoop &loop : inPixel)
    perPixel = arith::MulFOp::create(b, loc, perPixel, number(loop.count()));
  numbers[&N::directions] = perPixel;
  numbers[&N::depths] = constant(1);
  numbers[&N::pixel_size] = constant(1);
}

/// Beams, bases and how they move with what is averaged.
bool Writer::addBeams(ReachTables &tables, ReachNumbers &numbers) {
  using N = nb_reach_numbers;
  using T = nb_reach_tables;
  SmallVector<Value> inputs = deviates();
  const Slice beam({scattering.getIncident(), scattering.getWavelength()}, inputs, image);
  inputs.push_back(scattering.getResult());
  const Slice index(average.index.getResult(), inputs, image);
  for (const Slice *slice : {&beam, &index})
    if (!slice->why.empty())
      return refuse(slice->where, slice->why);

  /// The numbers of a beam, and their derivatives with respect to all variables.
  struct Beam {
    Value direct, incident, wavelength;
    SmallVector<Value> directs, incidents, wavelengths; ///< null: 0
  };
  SmallVector<Variable> all(average.normals);
  llvm::append_range(all, average.uniforms);
  const auto beamAt = [&](IRMapping mapping) -> std::optional<Beam> {
    RuleBuilder r(b, loc);
    SmallVector<Slice::Seeds> seeds;
    for (DeviateOp op : average.deviates) // each has a value of its own
      mapping.map(op.getResult(), zeroOf(b, loc, op.getType()));
    for (const Variable &v : all) {
      Value one = r.constant(b.getF64Type(), 1);
      seeds.emplace_back()[mapping.lookup(DeviateOp(v.deviate).getResult())] =
          v.component < 0 ? one : r.vecWith(one, unsigned(v.component));
    }
    auto found = beam.evaluate(b, mapping, seeds);
    if (failed(found))
      return std::nullopt;
    Beam result;
    result.incident = found->results[0];
    result.wavelength = found->results[1];
    SmallVector<Value> columns;
    SmallVector<SmallVector<Value>> moved(all.size());
    for (unsigned axis = 0; axis != 3; ++axis) {
      IRMapping at = mapping;
      at.map(scattering.getResult(), r.axis(axis, result.wavelength));
      auto column = index.evaluate(b, at, seeds);
      if (failed(column))
        return std::nullopt;
      columns.push_back(column->results[0]);
      for (auto [k, row] : llvm::enumerate(column->tangents))
        moved[k].push_back(row[0]);
    }
    const auto matrix = [&](ArrayRef<Value> columns) -> Value {
      if (llvm::none_of(columns, [](Value column) { return bool(column); }))
        return {};
      SmallVector<Value> elements;
      for (unsigned row = 0; row != 3; ++row)
        for (Value column : columns)
          elements.push_back(column ? r.component(column, row) : r.constant(b.getF64Type(), 0));
      return r.mat(elements);
    };
    result.direct = matrix(columns);
    for (size_t k = 0; k != all.size(); ++k) {
      result.directs.push_back(matrix(moved[k]));
      result.incidents.push_back(found->tangents[k][0]);
      result.wavelengths.push_back(found->tangents[k][1]);
    }
    return result;
  };

  const Counts counts = countsOf(beams);
  bool right = true;
  const auto mapped = [&](IRMapping &mapping, ValueRange ivs) {
    for (auto [loop, iv] : llvm::zip(beams, ivs))
      mapping.map(loop.iv(), iv);
  };
  const auto table = [&](Type type, Value Beam::*field) {
    return tabulateMiddle(loc, type, counts, [&](IRMapping &mapping, ValueRange ivs) {
      mapped(mapping, ivs);
      auto found = beamAt(mapping);
      right &= found.has_value();
      return found ? (*found).*field : zeroOf(b, loc, type);
    });
  };
  Type f64 = b.getF64Type(), vec = Vec3Type::get(f64), mat = Mat3Type::get(f64);
  tables[&T::direct] = table(mat, &Beam::direct);
  tables[&T::incident] = table(vec, &Beam::incident);
  tables[&T::wavelength] = table(f64, &Beam::wavelength);

  // Which variables move the beam or the basis: the others are the pixel's.
  SmallVector<unsigned> moving;
  unsigned normals = 0;
  Counts ofVariables = counts;
  const auto variedTable = [&](Type type, SmallVector<Value> Beam::*field) {
    return tabulateMiddle(loc, type, ofVariables, [&](IRMapping &mapping, ValueRange ivs) {
      mapped(mapping, ivs.drop_back());
      RuleBuilder r(b, loc);
      auto found = beamAt(mapping);
      right &= found.has_value();
      Value sum = zeroOf(b, loc, type);
      if (!found)
        return sum;
      for (auto [i, k] : llvm::enumerate(moving)) {
        Value part = ((*found).*field)[k];
        if (!part)
          continue;
        Value at = arith::ConstantIndexOp::create(b, loc, int64_t(i));
        Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, ivs.back(), at);
        Value share = r.select(is, r.constant(f64, 1), Value());
        sum = r.add(sum, isa<FloatType>(type) ? r.mul(part, share) : r.scale(part, share));
      }
      return sum;
    });
  };
  {
    // Tried once, to see which derivatives there are.
    bool known = false;
    Value trial = tabulateMiddle(loc, f64, {}, [&](IRMapping &mapping, ValueRange ivs) {
      mapped(mapping, SmallVector<Value>(beams.size(), ivs[0]));
      auto found = beamAt(mapping);
      known = found.has_value();
      for (unsigned k = 0; known && k != all.size(); ++k)
        if (found->directs[k] || found->incidents[k] || found->wavelengths[k]) {
          moving.push_back(k);
          normals += k < average.normals.size();
        }
      return zeroOf(b, loc, f64);
    });
    trial.getDefiningOp()->erase();
    if (!known)
      return false;
  }
  numbers[&N::normals] = constant(normals);
  numbers[&N::boxes] = constant(double(moving.size() - normals));
  ofVariables.push_back(
      {arith::ConstantIndexOp::create(b, loc, std::max<int64_t>(1, moving.size())),
       Dimension::draw});
  tables[&T::varied_direct] = variedTable(mat, &Beam::directs);
  tables[&T::varied_incident] = variedTable(vec, &Beam::incidents);
  tables[&T::varied_wavelength] = variedTable(f64, &Beam::wavelengths);
  numbers[&N::beams] = countOf(beams);

  // Scattering vectors are at most twice the inverse of the shortest wavelength, which the sum of a
  // high power over all sources bounds.
  RuleBuilder r(b, loc);
  Value none = arith::ConstantIndexOp::create(b, loc, 0);
  IRMapping first = inTheMiddle();
  SmallVector<Value> zeros(beams.size(), none);
  mapped(first, zeros);
  auto middle = beamAt(first);
  if (!middle)
    return false;
  auto sums = SumOp::create(b, loc, TypeRange{f64},
                            llvm::map_to_vector(counts, [](auto dim) { return dim.first; }),
                            b.getArrayAttr(llvm::map_to_vector(counts, [&](auto dim) -> Attribute {
                              return DimensionAttr::get(b.getContext(), dim.second);
                            })));
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&sums.getBody());
    for (size_t i = 0; i != counts.size(); ++i)
      block->addArgument(b.getIndexType(), loc);
    IRMapping mapping = inTheMiddle();
    mapped(mapping, block->getArguments());
    auto found = beam.evaluate(b, mapping, {});
    if (failed(found))
      return false;
    Value power = r.div(middle->wavelength, found->results[1]);
    for (int i = 0; i != 6; ++i)
      power = r.mul(power, power);
    YieldOp::create(b, loc, power);
  }
  Value most = sums.getResult(0);
  for (int i = 0; i != 6; ++i)
    most = r.sqrt(most);
  most = r.div(r.mul(most, 2), middle->wavelength);
  Value count3 = constant(1);
  constexpr double N::*bounds[] = {&N::h_most, &N::k_most, &N::l_most};
  for (unsigned i = 0; i != 3; ++i) {
    Value edge = r.mul(r.norm(r.row(middle->direct, i)), most);
    Value whole = math::FloorOp::create(b, loc, r.add(edge, constant(1)));
    numbers[bounds[i]] = whole;
    count3 = r.mul(count3, r.add(r.add(whole, whole), constant(1)));
  }
  numbers[&N::bases] = count3;
  numbers[&N::group] = constant(1);
  return right;
}

void Writer::addForm(ReachNumbers &numbers) {
  IRMapping mapping;
  RuleBuilder r(b, loc);
  Value zero = constant(0);
  mapping.map(average.index.getResult(), r.vec(zero, zero, zero));
  LatticeFactorOp factor = average.factor;
  auto size = Slice(factor.getResult(), average.index.getResult(), image).evaluate(b, mapping, {});
  auto crystal = size->results[0].getDefiningOp<LatticeFactorOp>();
  // The square of exp(-form).
  auto form = distanceCoefficients(crystal, -2 * distanceFactor(crystal.getShape()), r);
  form.resize(6, zero);
  llvm::copy(form, numbers[&nb_reach_numbers::form].begin());
  crystal.erase();
}

bool Writer::write(Operation *&place, std::string &reason) {
  using N = nb_reach_numbers;
  ReachNumbers numbers = numbersOfImage();
  numbers[&N::averaged] = constant(1);
  numbers[&N::bound] = constant(bound);
  bool written = findGeometry();
  if (written && beams.empty())
    written = refuse(average.sum, "there is no loop over beams");
  if (written) {
    // A table of which no entry is read is that of wavelengths.
    ReachTables tables(tabulateFlat(scattering.getWavelength(), beams, false));
    written = addBeams(tables, numbers);
    if (written) {
      addForm(numbers);
      addPanels(tables, numbers);
      ReachOp::create(b, loc, numbers.all(), tables.all().drop_front());
    }
  }
  place = where ? where : average.sum.getOperation();
  reason = why;
  return written;
}

} // namespace

bool nb::writeAverageReach(const AveragedSum &average, double bound, Operation *&where,
                           std::string &why) {
  return Writer(average, bound).write(where, why);
}

static Value indexOf(Value number, OpBuilder &b) {
  Location loc = number.getLoc();
  Value whole = arith::FPToSIOp::create(b, loc, b.getI64Type(), number);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), whole);
}

Value nb::countReflections(ReachOp reach, OpBuilder &b) {
  ReachNumbers numbers(reach.getNumbers());
  return indexOf(numbers[&nb_reach_numbers::bases], b);
}

Value nb::reflectionOf(ReachOp reach, Value number, Vec3Type type, OpBuilder &b) {
  using N = nb_reach_numbers;
  ReachNumbers numbers(reach.getNumbers());
  Location loc = number.getLoc();
  Value rest = number, components[3];
  constexpr double N::*bounds[] = {&N::h_most, &N::k_most, &N::l_most};
  for (unsigned i : {2, 1, 0}) {
    Value most = indexOf(numbers[bounds[i]], b);
    Value digit = rest;
    if (i != 0) {
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      Value side = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, most, most), one);
      digit = arith::RemUIOp::create(b, loc, rest, side);
      rest = arith::DivUIOp::create(b, loc, rest, side);
    }
    Value step = arith::SubIOp::create(b, loc, digit, most);
    Value whole = arith::IndexCastOp::create(b, loc, b.getI64Type(), step);
    components[i] = arith::SIToFPOp::create(b, loc, type.getElementType(), whole);
  }
  return VecOp::create(b, loc, type, components[0], components[1], components[2]);
}
