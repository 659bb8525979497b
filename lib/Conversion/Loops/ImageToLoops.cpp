#include "lib/Conversion/Loops/ImageToLoops.h"

#include "dialect/Names.h"
#include "dialect/ReachFields.h"
#include "lib/Conversion/Arith/LoweredValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nb;

/// Rows of the pixels of a warp.
constexpr int64_t rowsOfWarp = 4;

namespace {
class ImageLowering {
public:
  ImageLowering(ImageOp image, Accumulation &sums, LitLoops &lit, int64_t warp)
      : image(image), sums(sums), lit(lit), concurrent(warp > 0), warp(warp), b(image),
        loc(image.getLoc()) {}
  LogicalResult run();

private:
  LogicalResult allocateResults();
  LogicalResult allocateNumbers();
  LogicalResult replaceResults();
  LogicalResult row(Value panel, Value slow);
  LogicalResult litBlock(Value panel, Value block);
  void lowerReach(bool culled);
  Value startOfRow(Value panel, Value slow);
  void clearPixels(Value position, Value left);
  struct Bounds {
    Value fast,
        slow; ///< the first pixel and the first row that are not rendered; slow null: all are
  };
  LogicalResult pixels(Value panel, Value slow, Value fast, Bounds end, Value rowStart = {});
  void findPixels(Value panel, Value slow, Value fast, Bounds end, Value rowStart);
  LogicalResult replaceReads();
  LogicalResult store(Value value, const Accumulator &to);
  Value loadPixels(Location loc, Value buffer, Type type);
  void storePixels(Value value, Value buffer);
  Value maskAt();
  void skipMasked();
  Value zero(Type type) { return zeroConstant(b, loc, type); }

  int64_t lanes() { return image.getLanes().value_or(1); }
  /// In a culled image the pixels of a block are those of a vector, or of a warp's threads: so
  /// many rows of so many columns.
  int64_t rowsOfBlock() { return concurrent ? rowsOfWarp : image.getRows().value_or(1); }
  int64_t columnsOfBlock() { return (concurrent ? warp : lanes()) / rowsOfBlock(); }
  bool hasLanes() { return image.getLanes().has_value(); }
  static bool isImage(Value result) { return isa<RankedTensorType>(result.getType()); }

  ImageOp image;
  Accumulation &sums;
  LitLoops &lit;
  bool concurrent; ///< on a GPU, whose warps have so many threads
  int64_t warp;
  OpBuilder b;
  Location loc;
  SmallVector<Value> buffers; ///< one for each image
  SmallVector<Accumulator>
      accumulators; ///< one per result; that of an image is only a buffer, none if unused
  // Indices of the pixels at hand.
  Value slowIndex, fastIndex;
  Value ownRow;                 ///< where the first of their row is, in a flat image
  SmallVector<Value> positions; ///< in a flat image, of the first of each row
  Value inside;                 ///< which of them are pixels; null: all are
  Value rendered;               ///< inside and not masked; null: yes
};
} // namespace

/// Sums of single numbers, vectors and matrices.
LogicalResult ImageLowering::allocateNumbers() {
  auto isNumber = [](Value result) {
    return !result.use_empty() && !isImage(result) && !isMemory(result.getType());
  };
  auto results = llvm::make_filter_range(image.getResults(), isNumber);
  SmallVector<Type> types = llvm::map_to_vector(results, [](Value v) { return v.getType(); });
  auto numbers = createNumbers(image, types, image.getLanes().value_or(0));
  if (failed(numbers))
    return failure();
  for (auto [result, number] : llvm::zip(results, *numbers))
    accumulators[cast<OpResult>(result).getResultNumber()] = number;
  return success();
}

LogicalResult ImageLowering::allocateResults() {
  Value size = product(b, loc, image.getCounts());
  accumulators.resize(image.getNumResults());
  for (auto [result, yielded, to] :
       llvm::zip(image.getResults(), image.getYield().getValues(), accumulators)) {
    if (result.use_empty())
      continue;
    if (isImage(result)) {
      Type element = cast<RankedTensorType>(result.getType()).getElementType();
      to.type = result.getType();
      to.total =
          memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, element), size);
      buffers.push_back(to.total);
    } else if (isMemory(result.getType())) {
      auto created = sums.create(image, result.getType(), yielded, image.getLanes().value_or(0));
      if (failed(created))
        return failure();
      to = *created;
    }
  }
  if (failed(allocateNumbers()))
    return failure();
  for (Accumulator &accumulator : accumulators) {
    if (!accumulator.total || isa<RankedTensorType>(accumulator.type))
      continue;
    accumulator.concurrent = concurrent;
    accumulator.total.getDefiningOp()->setAttr(names::accumulator, b.getUnitAttr());
    if (accumulator.partial)
      accumulator.partial.getDefiningOp()->setAttr(names::scratch, b.getUnitAttr());
  }
  return success();
}

LogicalResult ImageLowering::replaceResults() {
  for (auto [result, from] : llvm::zip(image.getResults(), accumulators)) {
    if (result.use_empty())
      continue;
    if (isImage(result)) {
      result.replaceAllUsesWith(Value(StoredOp::create(b, loc, from.type, from.total)));
    } else if (isMemory(from.type)) {
      if (failed(replaceByBuffer(result, copySum(b, loc, from), from.counts)))
        return failure();
    } else {
      result.replaceAllUsesWith(readSum(b, loc, from));
    }
  }
  return success();
}

LogicalResult ImageLowering::run() {
  if (concurrent && hasLanes())
    return image.emitError("pixels in lanes cannot be computed at the same time too; leave out "
                           "--nb-vectorize");
  if (failed(allocateResults()))
    return failure();
  const bool culled = image->hasAttr(names::lit);
  if (image.getRows() && !culled)
    return image.emitError(
        "lanes of several rows are for blocks of what is lit, which nb-cull marks");
  if (culled)
    lit.create(b, loc);
  lowerReach(culled);
  // Named so that nb-outline-kernel finds the loops that a tile restricts, and nb-to-gpu those that
  // threads replace.
  auto loop = [&](Value count, Dimension name) {
    auto loop =
        scf::ForOp::create(b, loc, indexConstant(b, loc, 0), count, indexConstant(b, loc, 1));
    loop->setAttr(names::loop, DimensionAttr::get(b.getContext(), name));
    b.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  Value panel = loop(image.getCounts()[0], Dimension::panel);
  // A tile is rows of one panel: partial sums live as long as it runs.
  for (const Accumulator &accumulator : accumulators)
    if (accumulator.partial)
      clearPartial(b, loc, accumulator);
  Value slow = loop(image.getCounts()[1], Dimension::slow);
  Operation *rows = slow.getParentBlock()->getParentOp();
  // In a culled image this loop is over blocks.
  if (culled)
    rows->setAttr(names::lit, b.getUnitAttr());
  if (failed(culled ? litBlock(panel, slow) : row(panel, slow)))
    return failure();
  b.setInsertionPointAfter(rows);
  for (const Accumulator &accumulator : accumulators)
    if (accumulator.partial)
      foldPartial(b, loc, accumulator);
  b.setInsertionPoint(image);
  if (failed(replaceResults()))
    return failure();
  image.erase();
  return success();
}

/// Writes 0 to the pixel at `position`, or to as many as there are lanes and `left` pixels.
void ImageLowering::clearPixels(Value position, Value left) {
  for (Value buffer : buffers) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    if (!hasLanes()) {
      memref::StoreOp::create(b, loc, zero(element), buffer, position);
      continue;
    }
    Value some =
        vector::CreateMaskOp::create(b, loc, VectorType::get({lanes()}, b.getI1Type()), left);
    vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{position}, some,
                                  zero(VectorType::get({lanes()}, element)));
  }
}

/// The position of a row's first pixel in a flat image.
Value ImageLowering::startOfRow(Value panel, Value slow) {
  Value row = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, panel, image.getCounts()[1]), slow);
  return arith::MulIOp::create(b, loc, row, image.getCounts()[2]);
}

/// One of the blocks that the runtime lists, which lies in the region of interest.
LogicalResult ImageLowering::litBlock(Value panel, Value block) {
  Value slow = lit.slowOf(b, loc, block), fast = lit.fastOf(b, loc, block);
  Bounds end{image.getCounts()[2], rowsOfBlock() > 1 ? lit.slowEnd(b, loc) : Value()};
  if (!image.getRoi().empty()) {
    Value stop = arith::AddIOp::create(b, loc, image.getRoi()[1], indexConstant(b, loc, 1));
    end.fast = arith::MinSIOp::create(b, loc, stop, end.fast);
  }
  if (hasLanes())
    return pixels(panel, slow, fast, end);
  Value columns = indexConstant(b, loc, columnsOfBlock());
  auto loop = scf::ForOp::create(b, loc, indexConstant(b, loc, 0),
                                 indexConstant(b, loc, columnsOfBlock() * rowsOfBlock()),
                                 indexConstant(b, loc, 1));
  loop->setAttr(names::loop, DimensionAttr::get(b.getContext(), Dimension::fast));
  b.setInsertionPointToStart(loop.getBody());
  Value pixel = loop.getInductionVar();
  slow = arith::AddIOp::create(b, loc, slow, arith::DivUIOp::create(b, loc, pixel, columns));
  fast = arith::AddIOp::create(b, loc, fast, arith::RemUIOp::create(b, loc, pixel, columns));
  return pixels(panel, slow, fast, end);
}

/// Numbers go into memory as tables do. An image of which all is computed has no use for them.
void ImageLowering::lowerReach(bool culled) {
  ReachOp reach;
  for (Operation *op = image->getPrevNode(); op && !reach; op = op->getPrevNode())
    reach = dyn_cast<ReachOp>(op);
  if (!reach || reach.getNumbers().empty())
    return;
  if (!culled)
    return reach.erase();
  ReachNumbers numbers(reach.getNumbers());
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(double(value)));
  };
  numbers[&nb_reach_numbers::block_fast] = number(columnsOfBlock());
  numbers[&nb_reach_numbers::block_slow] = number(rowsOfBlock());
  Value memory = allocate(b, loc, indexConstant(b, loc, int64_t(ReachNumbers::count)));
  for (auto [i, number] : llvm::enumerate(numbers.all()))
    memref::StoreOp::create(b, loc, number, memory, indexConstant(b, loc, int64_t(i)));
  SmallVector<Value> tables{memory};
  llvm::append_range(tables, reach.getTables());
  ReachOp::create(b, reach.getLoc(), ValueRange(), tables);
  reach.erase();
}

LogicalResult ImageLowering::row(Value panel, Value slow) {
  Value zeroIndex = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
  Value columns = image.getCounts()[2];
  Value rowStart = startOfRow(panel, slow);
  Value begin = zeroIndex, end = columns;
  if (!image.getRoi().empty()) {
    ValueRange roi = image.getRoi();
    if (!buffers.empty()) {
      // All of the row is 0 first; then the loop covers the part inside, nothing in a row outside.
      auto clear = scf::ForOp::create(b, loc, zeroIndex, columns, indexConstant(b, loc, lanes()));
      clear.getInductionVar().setLoc(image.getInductionVars().back().getLoc());
      clear->setAttr(names::loop, DimensionAttr::get(b.getContext(), Dimension::fast));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(clear.getBody());
      clearPixels(arith::AddIOp::create(b, loc, rowStart, clear.getInductionVar()),
                  arith::SubIOp::create(b, loc, columns, clear.getInductionVar()));
    }
    begin = arith::MaxSIOp::create(b, loc, roi[0], zeroIndex);
    Value stop =
        arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, roi[1], one), columns);
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      return arith::CmpIOp::create(b, loc, predicate, x, y);
    };
    Value inside = arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::sge, slow, roi[2]),
                                         compare(arith::CmpIPredicate::sle, slow, roi[3]));
    end = arith::SelectOp::create(b, loc, inside, stop, begin);
  }
  auto loop = scf::ForOp::create(b, loc, begin, end, indexConstant(b, loc, lanes()));
  loop.getInductionVar().setLoc(image.getInductionVars().back().getLoc());
  loop->setAttr(names::loop, DimensionAttr::get(b.getContext(), Dimension::fast));
  b.setInsertionPointToStart(loop.getBody());
  return pixels(panel, slow, loop.getInductionVar(), {end, Value()}, rowStart);
}

/// Whether the pixels are to be rendered, by the mask.
Value ImageLowering::maskAt() {
  Value flat = splitArgument(cast<BlockArgument>(image.getMask()))[0];
  Type i8 = b.getI8Type();
  Value byte, none;
  byte = loadPixels(loc, flat, hasLanes() ? Type(VectorType::get({lanes()}, i8)) : i8);
  none = zero(byte.getType());
  Value wanted = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte, none);
  return inside ? Value(arith::AndIOp::create(b, loc, wanted, inside)) : wanted;
}

/// One vector of a row after the other, as they are in the lanes. Pixels outside are 0.
Value ImageLowering::loadPixels(Location loc, Value buffer, Type type) {
  if (!hasLanes())
    return memref::LoadOp::create(b, loc, buffer, positions.front());
  Value all = zero(type);
  auto lanes = cast<VectorType>(type);
  const int64_t columns = lanes.getNumElements() / int64_t(positions.size());
  if (positions.size() == 1)
    return vector::MaskedLoadOp::create(b, loc, lanes, buffer, positions.front(), inside, all);
  auto part = VectorType::get({columns}, lanes.getElementType());
  for (auto [row, position] : llvm::enumerate(positions)) {
    Value some =
        vector::ExtractStridedSliceOp::create(b, loc, inside, int64_t(row) * columns, columns, 1);
    Value values = vector::MaskedLoadOp::create(b, loc, part, buffer, position, some, zero(part));
    all = vector::InsertStridedSliceOp::create(b, loc, values, all, int64_t(row) * columns, 1);
  }
  return all;
}

void ImageLowering::storePixels(Value value, Value buffer) {
  if (hasLanes()) {
    const int64_t columns = lanes() / int64_t(positions.size());
    auto partOf = [&](Value v, size_t row) -> Value {
      if (positions.size() == 1)
        return v;
      return vector::ExtractStridedSliceOp::create(b, loc, v, int64_t(row) * columns, columns, 1);
    };
    for (auto [row, position] : llvm::enumerate(positions))
      vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{position}, partOf(inside, row),
                                    partOf(value, row));
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  if (inside) {
    auto only = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    b.setInsertionPointToStart(only.thenBlock());
  }
  memref::StoreOp::create(b, loc, value, buffer, positions.front());
}

/// Reads of the pixel at hand, or of one at a constant place in its row, before the body is moved.
LogicalResult ImageLowering::replaceReads() {
  SmallVector<ReadPixelOp> reads;
  image.getBody().walk([&](ReadPixelOp read) { reads.push_back(read); });
  for (ReadPixelOp read : reads) {
    auto source = dyn_cast<BlockArgument>(read.getImage());
    Value at[] = {read.getPanel(), read.getSlow(), read.getFast()};
    if (!source || !isa<FunctionOpInterface>(source.getOwner()->getParentOp()))
      return read.emitError("the image that is read must be an argument of the function");
    std::optional<int64_t> column = getConstantIntValue(read.getFast());
    if (!llvm::equal(ArrayRef(at).drop_back(), image.getInductionVars().drop_back()) ||
        (!column && read.getFast() != image.getInductionVars().back()))
      return read.emitError("only the pixel that is being computed can be read, or one of its row "
                            "at a constant place");
    Value flat = splitArgument(source)[0];
    Value value;
    if (column)
      value = memref::LoadOp::create(
          b, read.getLoc(), flat,
          arith::AddIOp::create(b, loc, ownRow, indexConstant(b, loc, *column)).getResult());
    else
      value = loadPixels(read.getLoc(), flat, read.getType());
    read.replaceAllUsesWith(value);
    read.erase();
  }
  return success();
}

LogicalResult ImageLowering::store(Value value, const Accumulator &to) {
  if (!to.total)
    return success(); // it has no user
  if (!isa<RankedTensorType>(to.type)) {
    Accumulator where = to;
    where.active = rendered;
    return sums.add(b, loc, value, where);
  }
  if (image.getMask())
    value = arith::SelectOp::create(b, loc, rendered, value, zero(value.getType()));
  storePixels(value, to.total);
  return success();
}

/// Pixels that are all masked are cleared and no more; the builder goes to where the others are
/// computed.
void ImageLowering::skipMasked() {
  Value any = rendered;
  if (hasLanes())
    any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, rendered);
  auto choice = scf::IfOp::create(b, loc, any, /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.elseBlock());
  for (Value buffer : buffers) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    storePixels(zero(hasLanes() ? Type(VectorType::get({lanes()}, element)) : element), buffer);
  }
  b.setInsertionPointToStart(choice.thenBlock());
}

/// Where the pixels are that begin at `slow` and `fast`, and which of them are inside.
void ImageLowering::findPixels(Value panel, Value slow, Value fast, Bounds end, Value rowStart) {
  slowIndex = slow;
  fastIndex = fast;
  const int64_t rows = image.getRows().value_or(1);
  auto compare = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  };
  if (!hasLanes() && end.slow) {
    // Threads sum together: those without a pixel take the nearest one, store nothing and add 0.
    inside = arith::AndIOp::create(b, loc, compare(fast, end.fast), compare(slow, end.slow));
    auto last = [&](Value x, Value end) -> Value {
      return arith::MinSIOp::create(b, loc, x,
                                    arith::SubIOp::create(b, loc, end, indexConstant(b, loc, 1)));
    };
    slowIndex = slow = last(slow, end.slow);
    fastIndex = fast = last(fast, end.fast);
  } else if (hasLanes()) {
    auto indices = VectorType::get({lanes()}, b.getIndexType());
    auto from = [&](Value first, function_ref<int64_t(int64_t)> step) -> Value {
      SmallVector<int64_t> steps =
          llvm::map_to_vector(llvm::seq(lanes()), [&](int64_t lane) { return step(lane); });
      Value constant = arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(indices, steps));
      return arith::AddIOp::create(b, loc, vector::BroadcastOp::create(b, loc, indices, first),
                                   constant);
    };
    const int64_t columns = lanes() / rows;
    if (rows > 1) {
      slowIndex = from(slow, [&](int64_t lane) { return lane / columns; });
      fastIndex = from(fast, [&](int64_t lane) { return lane % columns; });
      auto spread = [&](Value v) -> Value {
        return vector::BroadcastOp::create(b, loc, indices, v);
      };
      inside = arith::AndIOp::create(b, loc, compare(fastIndex, spread(end.fast)),
                                     compare(slowIndex, spread(end.slow)));
    } else {
      Value steps = vector::StepOp::create(b, loc, indices);
      fastIndex =
          arith::AddIOp::create(b, loc, vector::BroadcastOp::create(b, loc, indices, fast), steps);
      Value left = arith::SubIOp::create(b, loc, end.fast, fast);
      inside =
          vector::CreateMaskOp::create(b, loc, VectorType::get({lanes()}, b.getI1Type()), left);
    }
  }
  ownRow = rowStart ? rowStart : startOfRow(panel, slow);
  for (int64_t row = 0; row != rows; ++row) {
    Value start = row == 0 ? ownRow : startOfRow(panel, plus(b, loc, slow, row));
    positions.push_back(arith::AddIOp::create(b, loc, start, fast));
  }
}

/// `rowStart`: where the first pixel of the row is; null: not known yet.
LogicalResult ImageLowering::pixels(Value panel, Value slow, Value fast, Bounds end,
                                    Value rowStart) {
  findPixels(panel, slow, fast, end, rowStart);
  rendered = image.getMask() ? maskAt() : inside;
  OpBuilder::InsertionGuard guard(b);
  if (image.getMask() && !concurrent)
    skipMasked();
  if (failed(replaceReads()))
    return failure();
  Value ivs[] = {panel, slowIndex, fastIndex};
  SmallVector<Value> values = inlineBody(b, image, ivs);
  for (auto [value, to] : llvm::zip(values, accumulators))
    if (failed(store(value, to)))
      return failure();
  return success();
}

LogicalResult nb::lowerImage(ImageOp image, Accumulation &sums, LitLoops &lit, int64_t warp) {
  return ImageLowering(image, sums, lit, warp).run();
}

bool nb::isKernel(Operation *function) {
  return function
      ->walk([](Operation *op) {
        return isa<ImageOp>(op) || op->hasAttr(names::loop) ? WalkResult::interrupt()
                                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult nb::replaceByBuffer(Value tableOrGrid, Value buffer, ValueRange counts) {
  for (Operation *user : llvm::make_early_inc_range(tableOrGrid.getUsers())) {
    if (isa<ReachOp>(user))
      user->replaceUsesOfWith(tableOrGrid, buffer);
    auto lookup = dyn_cast<LookupOp>(user);
    if (!lookup)
      continue;
    OpBuilder b(lookup);
    Type type = lookup.getType();
    Value offset =
        entryOffset(b, lookup.getLoc(), lookup.getIndices(), counts, componentCount(type));
    lookup.replaceAllUsesWith(loadEntry(b, lookup.getLoc(), type, buffer, offset));
    lookup.erase();
  }
  if (tableOrGrid.use_empty())
    return success();
  for (Operation *user : tableOrGrid.getUsers()) {
    if (isa<FunctionOpInterface>(user->getParentOp()) && user->hasTrait<OpTrait::ReturnLike>() &&
        isKernel(user->getParentOp()))
      continue;
    InFlightDiagnostic error = emitError(tableOrGrid.getLoc(), "a table may only be looked up");
    error.attachNote(user->getLoc()) << "used here";
    return error;
  }
  OpBuilder b(tableOrGrid.getContext());
  b.setInsertionPointAfterValue(buffer);
  tableOrGrid.replaceAllUsesWith(
      Value(StoredOp::create(b, tableOrGrid.getLoc(), tableOrGrid.getType(), buffer)));
  return success();
}
