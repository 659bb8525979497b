#include "lib/Conversion/Loops/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nb;

SmallVector<Value> nb::buildNest(
    OpBuilder &b, Location loc, ValueRange counts, SmallVector<Value> carried,
    SmallVector<Value> &ivs,
    function_ref<SmallVector<Value>(OpBuilder &, ValueRange ivs, ValueRange carried)> body) {
  if (counts.empty())
    return body(b, ivs, carried);
  auto loop = scf::ForOp::create(b, loc, indexConstant(b, loc, 0), counts.front(),
                                 indexConstant(b, loc, 1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ivs.push_back(loop.getInductionVar());
  for (BlockArgument argument : loop.getRegionIterArgs())
    argument.setLoc(loc);
  SmallVector<Value> next = buildNest(b, loc, counts.drop_front(),
                                      SmallVector<Value>(loop.getRegionIterArgs()), ivs, body);
  // scf.for without carried values has its terminator already.
  if (carried.empty())
    return {};
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> nb::inlineBody(OpBuilder &b, LoopOp loop, ValueRange ivs) {
  Block &body = *loop.getBodyBlock();
  for (auto [argument, iv] : llvm::zip(body.getArguments(), ivs)) {
    // An induction variable is called as it was.
    if (auto induction = dyn_cast<BlockArgument>(iv))
      induction.setLoc(argument.getLoc());
    argument.replaceAllUsesWith(iv);
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Value> yielded = llvm::to_vector(yield.getValues());
  yield.erase();
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(), body.getOperations());
  return yielded;
}

Value nb::allocate(OpBuilder &b, Location loc, Value size) {
  return memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getF64Type()),
                                 size);
}

Value nb::entryOffset(OpBuilder &b, Location loc, ValueRange indices, ValueRange counts,
                      int64_t components) {
  Value offset = indices.front();
  for (auto [index, count] : llvm::zip(indices.drop_front(), counts.drop_front()))
    offset = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, offset, count), index);
  if (components == 1)
    return offset;
  return arith::MulIOp::create(b, loc, offset, indexConstant(b, loc, components));
}

Value nb::plus(OpBuilder &b, Location loc, Value offset, int64_t component) {
  if (component == 0)
    return offset;
  return arith::AddIOp::create(b, loc, offset, indexConstant(b, loc, component));
}

void nb::storeEntry(OpBuilder &b, Location loc, Value entry, Value buffer, Value offset) {
  for (auto [i, scalar] : llvm::enumerate(scalarsOf(b, loc, entry)))
    memref::StoreOp::create(b, loc, scalar, buffer, plus(b, loc, offset, i));
}

Value nb::loadEntry(OpBuilder &b, Location loc, Type type, Value buffer, Value offset) {
  SmallVector<Value> scalars;
  for (int64_t i = 0, n = componentCount(type); i < n; ++i)
    scalars.push_back(memref::LoadOp::create(b, loc, buffer, plus(b, loc, offset, i)));
  return fromScalars(b, loc, type, scalars);
}

LogicalResult nb::checkTableElement(Operation *op, Type element) {
  if (getElementTypeOrSelf(elementTypeOf(element)).isF64())
    return success();
  return op->emitError() << "tables of " << element
                         << " cannot be converted: only f64, !nb.vec3<f64> and !nb.mat3<f64> can";
}
