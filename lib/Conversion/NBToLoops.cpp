#include "lib/Conversion/Expansion.h"
#include "lib/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {
#define GEN_PASS_DEF_CONVERTNBTOLOOPS
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Scalars that one table entry holds.
int64_t componentCount(Type element) {
  return isa<Vec3Type>(element) ? 3 : isa<Mat3Type>(element) ? 9 : 1;
}

Value indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value zeroOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

/// A nest of loops from 0 to each count. `body` is called in the innermost loop with the induction
/// variables and the carried values, and returns what to carry on.
SmallVector<Value> buildNest(
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
  SmallVector<Value> next = buildNest(b, loc, counts.drop_front(),
                                      SmallVector<Value>(loop.getRegionIterArgs()), ivs, body);
  // scf.for without carried values has its terminator already.
  if (carried.empty())
    return {};
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

/// Moves the body of `loop` before the builder's insertion point, with `ivs` for its arguments, and
/// returns what it yielded.
SmallVector<Value> inlineBody(OpBuilder &b, Operation *loop, ValueRange ivs) {
  Block &body = loop->getRegion(0).front();
  for (auto [argument, iv] : llvm::zip(body.getArguments(), ivs))
    argument.replaceAllUsesWith(iv);
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Value> yielded = llvm::to_vector(yield.getValues());
  yield.erase();
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(), body.getOperations());
  return yielded;
}

void lowerSum(SumOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> zeros, ivs;
  for (Type type : op.getResultTypes())
    zeros.push_back(zeroOf(b, loc, type));
  auto results = buildNest(
      b, loc, op.getCounts(), zeros, ivs, [&](OpBuilder &b, ValueRange ivs, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [sum, term] : llvm::zip(carried, inlineBody(b, op, ivs)))
          next.push_back(
              arith::AddFOp::create(b, loc, sum, term, arith::FastMathFlags::contract));
        return next;
      });
  op.replaceAllUsesWith(results);
  op.erase();
}

void lowerFirst(FirstOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> ivs, start;
  start.push_back(zeroOf(b, loc, conditionTypeFor(op.getResult(0).getType())));
  for (Type type : op.getResultTypes())
    start.push_back(zeroOf(b, loc, type));
  auto results = buildNest(
      b, loc, op.getCounts(), start, ivs, [&](OpBuilder &b, ValueRange ivs, ValueRange carried) {
        Value found = carried[0];
        auto yielded = inlineBody(b, op, ivs);
        SmallVector<Value> next{Value()};
        for (auto [kept, value] : llvm::zip(carried.drop_front(), ArrayRef(yielded).drop_front())) {
          Value zero = zeroOf(b, loc, value.getType());
          Value candidate = arith::SelectOp::create(b, loc, yielded[0], value, zero);
          next.push_back(arith::SelectOp::create(b, loc, found, kept, candidate));
        }
        next[0] = arith::OrIOp::create(b, loc, found, yielded[0]);
        return next;
      });
  op.replaceAllUsesWith(ArrayRef(results).drop_front());
  op.erase();
}

/// Position of the first scalar of the entry at `indices`.
Value entryOffset(OpBuilder &b, Location loc, ValueRange indices, ValueRange counts,
                  int64_t components) {
  Value offset = indices.front();
  for (auto [index, count] : llvm::zip(indices.drop_front(), counts.drop_front()))
    offset = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, offset, count), index);
  if (components == 1)
    return offset;
  return arith::MulIOp::create(b, loc, offset, indexConstant(b, loc, components));
}

Value plus(OpBuilder &b, Location loc, Value offset, int64_t component) {
  if (component == 0)
    return offset;
  return arith::AddIOp::create(b, loc, offset, indexConstant(b, loc, component));
}

void storeEntry(OpBuilder &b, Location loc, Value entry, Value buffer, Value offset) {
  Type type = entry.getType();
  for (int64_t i = 0, n = componentCount(type); i < n; ++i) {
    Value scalar = entry;
    if (isa<Vec3Type>(type))
      scalar = ComponentOp::create(b, loc, entry, i);
    else if (isa<Mat3Type>(type))
      scalar = ElementOp::create(b, loc, entry, i / 3, i % 3);
    memref::StoreOp::create(b, loc, scalar, buffer, plus(b, loc, offset, i));
  }
}

Value loadEntry(OpBuilder &b, Location loc, Type type, Value buffer, Value offset) {
  SmallVector<Value> scalars;
  for (int64_t i = 0, n = componentCount(type); i < n; ++i)
    scalars.push_back(memref::LoadOp::create(b, loc, buffer, plus(b, loc, offset, i)));
  if (isa<Vec3Type>(type))
    return VecOp::create(b, loc, scalars[0], scalars[1], scalars[2]);
  if (isa<Mat3Type>(type))
    return MatOp::create(b, loc, type, scalars);
  return scalars.front();
}

/// Lookups of a value, before its definition is converted.
SmallVector<LookupOp> lookupsOf(Value table) {
  SmallVector<LookupOp> lookups;
  for (Operation *user : table.getUsers())
    if (auto lookup = dyn_cast<LookupOp>(user))
      lookups.push_back(lookup);
  return lookups;
}

void lowerLookup(LookupOp op, Value buffer, ValueRange counts) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getType();
  Value offset = entryOffset(b, loc, op.getIndices(), counts, componentCount(type));
  op.replaceAllUsesWith(loadEntry(b, loc, type, buffer, offset));
  op.erase();
}

LogicalResult checkTableElement(Operation *op, Type element) {
  if (getElementTypeOrSelf(elementTypeOf(element)).isF64())
    return success();
  return op->emitError() << "tables of " << element
                         << " cannot be converted: only f64, !nb.vec3<f64> and !nb.mat3<f64> can";
}

LogicalResult lowerTabulate(TabulateOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> buffers, ivs;
  Value entries = op.getCounts().front();
  for (Value count : op.getCounts().drop_front())
    entries = arith::MulIOp::create(b, loc, entries, count);
  for (Type type : op.getResultTypes()) {
    Type element = cast<TableType>(type).getElementType();
    if (failed(checkTableElement(op, element)))
      return failure();
    Value size = arith::MulIOp::create(b, loc, entries,
                                       indexConstant(b, loc, componentCount(element)));
    buffers.push_back(memref::AllocOp::create(
        b, loc, MemRefType::get({ShapedType::kDynamic}, b.getF64Type()), size));
  }
  SmallVector<Value> counts = llvm::to_vector(op.getCounts());
  buildNest(b, loc, counts, {}, ivs, [&](OpBuilder &b, ValueRange ivs, ValueRange) {
    for (auto [entry, buffer] : llvm::zip(inlineBody(b, op, ivs), buffers)) {
      Value offset = entryOffset(b, loc, ivs, counts, componentCount(entry.getType()));
      storeEntry(b, loc, entry, buffer, offset);
    }
    return SmallVector<Value>();
  });
  for (auto [table, buffer] : llvm::zip(op.getTables(), buffers)) {
    for (LookupOp lookup : lookupsOf(table))
      lowerLookup(lookup, buffer, counts);
    if (!table.use_empty())
      return op.emitError("a table may only be looked up");
  }
  op.erase();
  return success();
}

/// Function arguments that are tables: one-dimensional, looked up in their flat memref.
LogicalResult lowerArgumentLookup(LookupOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getTable());
  if (!argument)
    return op.emitError("table is neither a function argument nor an nb.tabulate");
  if (failed(checkTableElement(op, op.getType())))
    return failure();
  if (op.getIndices().size() != 1)
    return op.emitError("an argument table must have one dimension, but this one has ")
           << op.getIndices().size();
  lowerLookup(op, splitArgument(argument)[0], op.getIndices());
  return success();
}

class ImageLowering {
public:
  explicit ImageLowering(ImageOp image) : image(image), b(image), loc(image.getLoc()) {}
  void run();

private:
  void row(Value panel, Value slow);
  void pixels(Value panel, Value slow, Value fast, Value end, Value rowStart);
  Value maskAt(Value position, Value inRow, Type type);

  int64_t lanes() { return image.getLanes().value_or(1); }
  bool hasLanes() { return image.getLanes().has_value(); }

  ImageOp image;
  OpBuilder b;
  Location loc;
  SmallVector<Value> buffers;
};

void ImageLowering::run() {
  Value panels = image.getCounts()[0], rows = image.getCounts()[1], columns = image.getCounts()[2];
  Value size = arith::MulIOp::create(b, loc, arith::MulIOp::create(b, loc, panels, rows), columns);
  SmallVector<Value> images;
  for (Type type : image.getResultTypes()) {
    Type element = cast<RankedTensorType>(type).getElementType();
    Value buffer = memref::AllocOp::create(
        b, loc, MemRefType::get({ShapedType::kDynamic}, element), size);
    buffers.push_back(buffer);
    images.push_back(
        UnrealizedConversionCastOp::create(b, loc, TypeRange{type}, buffer).getResult(0));
  }
  image.replaceAllUsesWith(images);
  // Named so that nb-outline-kernel finds the loops that a tile restricts.
  auto loop = [&](Value count, StringRef name) {
    auto loop = scf::ForOp::create(b, loc, indexConstant(b, loc, 0), count,
                                   indexConstant(b, loc, 1));
    loop->setAttr("nb.loop", b.getStringAttr(name));
    b.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  Operation *nest = image;
  b.setInsertionPoint(nest);
  Value panel = loop(panels, "panel");
  Value slow = loop(rows, "slow");
  row(panel, slow);
  image.erase();
}

void ImageLowering::row(Value panel, Value slow) {
  Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
  Value rows = image.getCounts()[1], columns = image.getCounts()[2];
  Value rowIndex =
      arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, panel, rows), slow);
  Value rowStart = arith::MulIOp::create(b, loc, rowIndex, columns);
  Value begin = zero, end = columns;
  if (!image.getRoi().empty()) {
    ValueRange roi = image.getRoi();
    // All of the row is 0 first; then the loop covers the part inside, nothing in a row outside.
    auto clear = scf::ForOp::create(b, loc, zero, columns, one);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(clear.getBody());
      Value position = arith::AddIOp::create(b, loc, rowStart, clear.getInductionVar());
      for (Value buffer : buffers)
        memref::StoreOp::create(
            b, loc, zeroOf(b, loc, cast<MemRefType>(buffer.getType()).getElementType()), buffer,
            position);
    }
    begin = arith::MaxSIOp::create(b, loc, roi[0], zero);
    Value stop = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, roi[1], one), columns);
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      return arith::CmpIOp::create(b, loc, predicate, x, y);
    };
    Value inside =
        arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::sge, slow, roi[2]),
                              compare(arith::CmpIPredicate::sle, slow, roi[3]));
    end = arith::SelectOp::create(b, loc, inside, stop, begin);
  }
  auto loop = scf::ForOp::create(b, loc, begin, end, indexConstant(b, loc, lanes()));
  b.setInsertionPointToStart(loop.getBody());
  pixels(panel, slow, loop.getInductionVar(), end, rowStart);
}

Value ImageLowering::maskAt(Value position, Value inRow, Type type) {
  Value flat = splitArgument(cast<BlockArgument>(image.getMask()))[0];
  Type i8 = b.getI8Type();
  Value byte, zero;
  if (hasLanes()) {
    auto bytes = VectorType::get({lanes()}, i8);
    zero = zeroOf(b, loc, bytes);
    byte = vector::MaskedLoadOp::create(b, loc, bytes, flat, position, inRow, zero);
  } else {
    zero = zeroOf(b, loc, i8);
    byte = memref::LoadOp::create(b, loc, flat, position);
  }
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte, zero);
}

void ImageLowering::pixels(Value panel, Value slow, Value fast, Value end, Value rowStart) {
  Value fastIndex = fast, inRow;
  if (hasLanes()) {
    Type indices = VectorType::get({lanes()}, b.getIndexType());
    Value steps = vector::StepOp::create(b, loc, cast<VectorType>(indices));
    fastIndex = arith::AddIOp::create(
        b, loc, vector::BroadcastOp::create(b, loc, indices, fast), steps);
    Value left = arith::SubIOp::create(b, loc, end, fast);
    inRow = vector::CreateMaskOp::create(b, loc, VectorType::get({lanes()}, b.getI1Type()), left);
  }
  Value ivs[] = {panel, slow, fastIndex};
  SmallVector<Value> values = inlineBody(b, image, ivs);
  Value position = arith::AddIOp::create(b, loc, rowStart, fast);
  for (auto [value, buffer] : llvm::zip(values, buffers)) {
    Value stored = value;
    if (image.getMask())
      stored = arith::SelectOp::create(b, loc, maskAt(position, inRow, value.getType()), value,
                                       zeroOf(b, loc, value.getType()));
    if (hasLanes())
      vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{position}, inRow, stored);
    else
      memref::StoreOp::create(b, loc, stored, buffer, position);
  }
}

struct ConvertNBToLoopsPass : nb::impl::ConvertNBToLoopsBase<ConvertNBToLoopsPass> {
  void runOnOperation() override {
    // Tables first, while lookups still name them; then loops from the inside out.
    SmallVector<Operation *> loops;
    getOperation()->walk([&](Operation *op) {
      if (isa<ImageOp, SumOp, FirstOp, TabulateOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops)
      if (auto tabulate = dyn_cast<TabulateOp>(op))
        if (failed(lowerTabulate(tabulate)))
          return signalPassFailure();
    SmallVector<LookupOp> lookups;
    getOperation()->walk([&](LookupOp op) { lookups.push_back(op); });
    for (LookupOp op : lookups)
      if (failed(lowerArgumentLookup(op)))
        return signalPassFailure();
    loops.clear();
    getOperation()->walk([&](Operation *op) {
      if (isa<ImageOp, SumOp, FirstOp>(op))
        loops.push_back(op);
    });
    for (Operation *op : loops) {
      if (auto sum = dyn_cast<SumOp>(op))
        lowerSum(sum);
      else if (auto first = dyn_cast<FirstOp>(op))
        lowerFirst(first);
      else
        ImageLowering(cast<ImageOp>(op)).run();
    }
  }
};
} // namespace
