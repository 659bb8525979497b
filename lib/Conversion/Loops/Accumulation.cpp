#include "lib/Conversion/Loops/Accumulation.h"

#include "lib/Conversion/Arith/GridToArith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;

/// An op that makes a term of the sum that `value` is: an nb.scatter or nb.scatter_factor.
static Operation *findTerm(Value value) {
  for (;;) {
    if (auto sum = value.getDefiningOp<SumOp>())
      value = sum.getYield()->getOperand(cast<OpResult>(value).getResultNumber());
    else if (auto both = value.getDefiningOp<AddOp>())
      value = both.getLhs();
    else
      break;
  }
  Operation *term = value.getDefiningOp();
  return isa_and_nonnull<ScatterOp, ScatterFactorOp>(term) ? term : nullptr;
}

/// `value` as it is known ahead of `loop`; null when it is not.
static Value outsideOf(Operation *loop, Value value, OpBuilder &b) {
  if (!loop->isAncestor(value.getParentRegion()->getParentOp()))
    return value;
  Operation *definition = value.getDefiningOp();
  if (!definition || !matchPattern(definition, m_Constant()))
    return {};
  return b.clone(*definition)->getResult(0);
}

/// Terms of more lanes are added up to these: half the memory for the same additions.
static void setLanes(Accumulator &of, int64_t lanes) {
  constexpr int64_t widestRegister = 8;
  of.pixels = lanes;
  of.lanes = lanes % widestRegister == 0 ? std::min(lanes, widestRegister) : lanes;
}

/// Entries of a table of reflections are many, and each is met in a few blocks of pixels: memory
/// for lanes of them would not stay in the cache.
static bool isOfReflections(ScatterOp scatter) {
  return llvm::any_of(scatter.getIndices(), [](Value index) {
    auto iv = dyn_cast<BlockArgument>(index);
    auto sum = iv ? dyn_cast<SumOp>(iv.getOwner()->getParentOp()) : nullptr;
    return sum && sum.getDimension(iv.getArgNumber()) == Dimension::reflection;
  });
}

/// Memory for `each` scalars of each of the entries.
static void allocateScalars(OpBuilder &b, Location loc, Accumulator &of, Value entries,
                            int64_t each) {
  auto times = [&](int64_t n) {
    return n == 1 ? entries
                  : Value(arith::MulIOp::create(b, loc, entries, indexConstant(b, loc, n)));
  };
  of.total = allocate(b, loc, times(each));
  if (of.lanes)
    of.partial = allocate(b, loc, times(each * of.lanes));
}

FailureOr<SmallVector<Accumulator>> nb::createNumbers(Operation *loop, TypeRange types,
                                                      int64_t lanes) {
  SmallVector<Accumulator> numbers;
  int64_t count = 0;
  for (Type type : types) {
    if (Type element = elementTypeOf(type); !element.isF64() && !element.isF32())
      return loop->emitError() << "a sum of " << type << " over pixels cannot be converted: only "
                               << "numbers, vectors and matrices of f64 and f32, tables and grids "
                               << "of f64 can";
    Accumulator &number = numbers.emplace_back();
    number.type = type;
    setLanes(number, lanes);
    number.first = count;
    count += componentCount(type);
  }
  if (numbers.empty())
    return numbers;
  OpBuilder b(loop);
  allocateScalars(b, loop->getLoc(), numbers.front(), indexConstant(b, loop->getLoc(), count), 1);
  for (Accumulator &number : numbers) {
    number.total = numbers.front().total;
    number.partial = numbers.front().partial;
  }
  return numbers;
}

FailureOr<Accumulator> Accumulation::create(Operation *loop, Type type, Value yielded,
                                            int64_t lanes) {
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Accumulator result;
  result.type = type;
  setLanes(result, isa<HklGridType>(type) ? 0 : lanes);
  Operation *term = findTerm(yielded);
  if (!term)
    return loop->emitError("a sum of tables or grids must add up what nb.scatter or "
                           "nb.scatter_factor makes");
  if (auto scatter = dyn_cast<ScatterOp>(term)) {
    Type element = cast<TableType>(type).getElementType();
    if (failed(checkTableElement(loop, element)))
      return failure();
    if (isOfReflections(scatter))
      result.lanes = 0;
    for (Value size : scatter.getSizes()) {
      result.counts.push_back(outsideOf(loop, size, b));
      if (!result.counts.back())
        return scatter.emitError("the size of the table is not known ahead of the loops");
    }
    result.entries = product(b, loc, result.counts);
    allocateScalars(b, loc, result, result.entries, componentCount(element));
    return result;
  }
  auto like = dyn_cast<BlockArgument>(cast<ScatterFactorOp>(term).getLike());
  if (!like || !isa<FunctionOpInterface>(like.getOwner()->getParentOp()))
    return term->emitError("the grid whose bounds are taken must be an argument of the function");
  result.entries = gridEntries(b, loc, splitArgument(like));
  allocateScalars(b, loc, result, result.entries, 1);
  return result;
}

/// A scalar or lanes of a sum in f32 as they are added up: in f64.
static Value widened(OpBuilder &b, Location loc, Value term) {
  if (getElementTypeOrSelf(term.getType()).isF64())
    return term;
  Type wide = b.getF64Type();
  if (auto lanes = dyn_cast<VectorType>(term.getType()))
    wide = lanes.clone(wide);
  return arith::ExtFOp::create(b, loc, wide, term);
}

/// Adds what counts of a term to a number, or to as many lanes as `old` has: all of the term's
/// lanes, so many at a time.
static Value addLanes(OpBuilder &b, Location loc, Value old, Value term, Value active) {
  auto lanes = dyn_cast<VectorType>(old.getType());
  int64_t width = lanes ? lanes.getNumElements() : 1;
  int64_t all = lanes ? cast<VectorType>(term.getType()).getNumElements() : 1;
  for (int64_t first = 0; first < all; first += width) {
    auto part = [&](Value x) -> Value {
      return width == all ? x
                          : vector::ExtractStridedSliceOp::create(
                                b, loc, x, ArrayRef{first}, ArrayRef{width}, ArrayRef<int64_t>{1});
    };
    Value sum = arith::AddFOp::create(b, loc, old, part(term), arith::FastMathFlags::contract);
    // Not a product with 0 or 1: what does not count may be infinite or no number.
    old = active ? Value(arith::SelectOp::create(b, loc, part(active), sum, old)) : sum;
  }
  return old;
}

/// Adds all lanes of a term that count to a number.
static Value addReduced(OpBuilder &b, Location loc, Value old, Value term, Value active) {
  if (active)
    term = arith::SelectOp::create(b, loc, active, term, zeroConstant(b, loc, term.getType()));
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, term, old,
                                     arith::FastMathFlags::reassoc);
}

/// memory[position] += term where it counts.
static void addScalar(OpBuilder &b, Location loc, Value term, const Accumulator &to,
                      Value position) {
  if (to.concurrent) {
    if (to.active)
      term = arith::SelectOp::create(b, loc, to.active, term, zeroConstant(b, loc, term.getType()));
    memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, term, to.total, position);
    return;
  }
  if (!to.lanes) {
    Value old = memref::LoadOp::create(b, loc, to.total, position);
    Value sum = isa<VectorType>(term.getType()) ? addReduced(b, loc, old, term, to.active)
                                                : addLanes(b, loc, old, term, to.active);
    memref::StoreOp::create(b, loc, sum, to.total, position);
    return;
  }
  auto vector = VectorType::get({to.lanes}, b.getF64Type());
  position = arith::MulIOp::create(b, loc, position, indexConstant(b, loc, to.lanes));
  if (!isa<VectorType>(term.getType()))
    term = vector::BroadcastOp::create(b, loc, VectorType::get({to.pixels}, b.getF64Type()), term);
  Value old = vector::LoadOp::create(b, loc, vector, to.partial, ValueRange{position});
  vector::StoreOp::create(b, loc, addLanes(b, loc, old, term, to.active), to.partial,
                          ValueRange{position});
}

LogicalResult Accumulation::add(OpBuilder &b, Location loc, Value term, const Accumulator &to) {
  if (!isMemory(to.type)) {
    for (auto [i, scalar] : llvm::enumerate(scalarsOf(b, loc, term)))
      addScalar(b, loc, widened(b, loc, scalar), to, indexConstant(b, loc, to.first + i));
    return success();
  }
  if (auto scatter = term.getDefiningOp<ScatterOp>()) {
    Type element = cast<TableType>(to.type).getElementType();
    Value first =
        entryOffset(b, scatter.getLoc(), scatter.getIndices(), to.counts, componentCount(element));
    for (auto [i, scalar] : llvm::enumerate(scalarsOf(b, scatter.getLoc(), scatter.getValue())))
      addScalar(b, scatter.getLoc(), scalar, to, plus(b, scatter.getLoc(), first, i));
    return success();
  }
  if (auto scatter = term.getDefiningOp<ScatterFactorOp>()) {
    addToGrid(scatter, b, to.total, to.active, to.concurrent);
    return success();
  }
  if (auto both = term.getDefiningOp<AddOp>())
    return failure(failed(add(b, loc, both.getLhs(), to)) ||
                   failed(add(b, loc, both.getRhs(), to)));
  if (!term.getDefiningOp<SumOp>())
    return emitError(loc, "a sum of tables or grids must add up what nb.scatter or "
                          "nb.scatter_factor makes");
  addDestination(term, to);
  return success();
}

/// How many scalars are summed.
static Value scalarCount(OpBuilder &b, Location loc, const Accumulator &of) {
  if (!of.entries)
    return indexConstant(b, loc, componentCount(of.type));
  auto table = dyn_cast<TableType>(of.type);
  int64_t each = table ? componentCount(table.getElementType()) : 1;
  return each == 1 ? of.entries
                   : Value(arith::MulIOp::create(b, loc, of.entries, indexConstant(b, loc, each)));
}

/// Calls `body` in a loop over the numbers from 0 to `count`.
static void forEach(OpBuilder &b, Location loc, Value count,
                    function_ref<void(OpBuilder &, Value)> body) {
  SmallVector<Value> ivs;
  buildNest(b, loc, count, {}, ivs, [&](OpBuilder &b, ValueRange ivs, ValueRange) {
    body(b, ivs[0]);
    return SmallVector<Value>();
  });
}

void nb::clearPartial(OpBuilder &b, Location loc, const Accumulator &accumulator) {
  auto vector = VectorType::get({accumulator.lanes}, b.getF64Type());
  Value lanes = indexConstant(b, loc, accumulator.lanes);
  forEach(b, loc, scalarCount(b, loc, accumulator), [&](OpBuilder &b, Value i) {
    Value position = arith::MulIOp::create(b, loc, plus(b, loc, i, accumulator.first), lanes);
    vector::StoreOp::create(b, loc, zeroConstant(b, loc, vector), accumulator.partial,
                            ValueRange{position});
  });
}

void nb::foldPartial(OpBuilder &b, Location loc, const Accumulator &accumulator) {
  auto vector = VectorType::get({accumulator.lanes}, b.getF64Type());
  Value lanes = indexConstant(b, loc, accumulator.lanes);
  forEach(b, loc, scalarCount(b, loc, accumulator), [&](OpBuilder &b, Value i) {
    i = plus(b, loc, i, accumulator.first);
    Value position = arith::MulIOp::create(b, loc, i, lanes);
    Value partial =
        vector::LoadOp::create(b, loc, vector, accumulator.partial, ValueRange{position});
    Value sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, partial);
    Value total = memref::LoadOp::create(b, loc, accumulator.total, i);
    memref::StoreOp::create(b, loc, Value(arith::AddFOp::create(b, loc, total, sum)),
                            accumulator.total, i);
  });
}

Value nb::readSum(OpBuilder &b, Location loc, const Accumulator &from) {
  SmallVector<Value> scalars;
  for (int64_t i = 0, n = componentCount(from.type); i < n; ++i) {
    Value total = memref::LoadOp::create(b, loc, from.total, indexConstant(b, loc, from.first + i));
    if (Type element = elementTypeOf(from.type); !element.isF64())
      total = arith::TruncFOp::create(b, loc, element, total);
    scalars.push_back(total);
  }
  return fromScalars(b, loc, from.type, scalars);
}

Value nb::copySum(OpBuilder &b, Location loc, const Accumulator &from) {
  Value count = scalarCount(b, loc, from);
  Value buffer = allocate(b, loc, count);
  forEach(b, loc, count, [&](OpBuilder &b, Value i) {
    memref::StoreOp::create(b, loc, Value(memref::LoadOp::create(b, loc, from.total, i)), buffer,
                            i);
  });
  return buffer;
}

void nb::clearTotal(OpBuilder &b, Location loc, const Accumulator &accumulator) {
  forEach(b, loc, scalarCount(b, loc, accumulator), [&](OpBuilder &b, Value i) {
    memref::StoreOp::create(b, loc, zeroConstant(b, loc, b.getF64Type()), accumulator.total, i);
  });
}
