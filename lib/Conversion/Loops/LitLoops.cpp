#include "lib/Conversion/Loops/LitLoops.h"

#include "dialect/Names.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nb;

void LitLoops::create(OpBuilder &b, Location loc) {
  for (auto [i, list] : llvm::enumerate(lists)) {
    Type entry = i == Reflection ? b.getI64Type() : b.getI32Type();
    auto type = MemRefType::get({ShapedType::kDynamic}, entry);
    auto memory = memref::AllocOp::create(b, loc, type, indexConstant(b, loc, 0));
    memory->setAttr(names::litList, b.getI64IntegerAttr(int64_t(i)));
    list = memory;
  }
}

Value LitLoops::load(OpBuilder &b, Location loc, List list, Value position) {
  auto entry = memref::LoadOp::create(b, loc, lists[list], position);
  entry->setAttr(names::lit, b.getUnitAttr());
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), entry);
}

Value LitLoops::slowOf(OpBuilder &b, Location loc, Value at) {
  block = at;
  return load(b, loc, Slow, block);
}
Value LitLoops::fastOf(OpBuilder &b, Location loc, Value at) { return load(b, loc, Fast, at); }
Value LitLoops::slowEnd(OpBuilder &b, Location loc) {
  return load(b, loc, SlowEnd, indexConstant(b, loc, 0));
}

/// A loop over the entries of a list from `begin` to `end`, each the number of a combination of the
/// dimensions with these counts.
SmallVector<Value>
LitLoops::overList(OpBuilder &b, Location loc, ValueRange counts, List list, Value begin, Value end,
                   SmallVector<Value> carried, SmallVector<Value> &ivs,
                   function_ref<SmallVector<Value>(OpBuilder &, Value, SmallVector<Value>)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, indexConstant(b, loc, 1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value left = load(b, loc, list, loop.getInductionVar());
  SmallVector<Value> indices(counts.size());
  for (size_t i = counts.size(); i-- > 1;) {
    indices[i] = arith::RemUIOp::create(b, loc, left, counts[i]);
    left = arith::DivUIOp::create(b, loc, left, counts[i]);
  }
  indices[0] = left;
  ivs.append(indices);
  auto next = body(b, loop.getInductionVar(), SmallVector<Value>(loop.getRegionIterArgs()));
  if (carried.empty())
    return {};
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> LitLoops::buildNest(
    OpBuilder &b, Location loc, SumOp sum, SmallVector<Value> carried, SmallVector<Value> &ivs,
    function_ref<SmallVector<Value>(OpBuilder &, ValueRange ivs, ValueRange carried)> body) {
  auto kinds = sum->getAttrOfType<DenseI64ArrayAttr>(names::lit).asArrayRef();
  ValueRange counts = sum.getCounts();
  auto whole = llvm::count(kinds, runsWhole), beams = llvm::count(kinds, runsOverBeams);
  auto bases = llvm::count(kinds, runsOverBases);
  auto beginOf = [&](OpBuilder &b, List list, Value i, int64_t add) {
    return load(b, loc, list, plus(b, loc, i, add));
  };
  auto overBases = [&](OpBuilder &b, SmallVector<Value> carried) {
    if (bases == 0)
      return body(b, ivs, carried);
    Value first = beam, last = beam ? plus(b, loc, beam, 1) : Value();
    if (!beam) {
      first = beginOf(b, OuterBegin, block, 0);
      last = beginOf(b, OuterBegin, block, 1);
    }
    const bool ofReflections = sum.getDimension(counts.size() - 1) == Dimension::reflection;
    List list = ofReflections ? Reflection : Inner;
    return overList(
        b, loc, counts.take_back(bases), list, beginOf(b, InnerBegin, first, 0),
        beginOf(b, InnerBegin, last, 0), carried, ivs,
        [&](OpBuilder &b, Value, SmallVector<Value> carried) { return body(b, ivs, carried); });
  };
  auto overBeams = [&](OpBuilder &b, SmallVector<Value> carried) {
    if (beams == 0)
      return overBases(b, carried);
    return overList(b, loc, counts.slice(whole, beams), Outer, beginOf(b, OuterBegin, block, 0),
                    beginOf(b, OuterBegin, block, 1), carried, ivs,
                    [&](OpBuilder &b, Value position, SmallVector<Value> carried) {
                      beam = position;
                      return overBases(b, carried);
                    });
  };
  // The beam stays known to the sums inside, which are lowered later.
  return nb::buildNest(b, loc, counts.take_front(whole), carried, ivs,
                       [&](OpBuilder &b, ValueRange, ValueRange carried) {
                         return overBeams(b, SmallVector<Value>(carried));
                       });
}
