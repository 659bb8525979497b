#include "lib/Conversion/Loops/Accumulation.h"
#include "lib/Conversion/Loops/EntryPoint.h"
#include "lib/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nb {
#define GEN_PASS_DEF_OUTLINEKERNEL
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Splits one function into the entry points of a kernel.
class Outliner {
public:
  explicit Outliner(func::FuncOp source) : source(source), b(source), loc(source.getLoc()) {}
  LogicalResult run();

private:
  LogicalResult analyze();
  LogicalResult findNest();
  LogicalResult findResults();
  LogicalResult findSaved();
  void emitWorkspaceSize();
  void emitPrepare();
  void emitRunTile();
  void emitFinish();
  void emitOutputSizes();

  EntryPoint begin(StringRef suffix, TypeRange inputs, Type result = {});
  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  bool isBeforeNest(Operation *op) { return op->isBeforeInBlock(nest); }
  /// Maps the arguments of the source, and the casts that split them.
  void bindArguments(EntryPoint &entry, IRMapping &mapping);
  /// Clones what `value` is computed from, as far as it stands before the nest.
  void cloneSlice(Value value, OpBuilder &b, IRMapping &mapping);
  Value sizeOf(memref::AllocOp alloc, EntryPoint &entry, IRMapping &mapping);
  /// Maps every table to its place in the workspace; returns the position after the last one.
  Value bindTables(EntryPoint &entry, IRMapping &mapping, Value workspace);
  /// Maps the buffers to memory at `memory`, if given; returns how many doubles they take.
  Value bindBuffers(ArrayRef<memref::AllocOp> buffers, EntryPoint &entry, IRMapping &mapping,
                    Value memory);
  void emitSize(StringRef suffix, ArrayRef<memref::AllocOp> buffers);
  void bindSaved(EntryPoint &entry, IRMapping &mapping, Value workspace);
  void addAccumulators(EntryPoint &entry, Value accumulators, Value count, Value doubles);
  /// Clones ops of the source that are no memory and have not been mapped.
  void cloneOps(Block::iterator begin, Block::iterator end, IRMapping &mapping);

  func::FuncOp source;
  OpBuilder b;
  Location loc;
  scf::ForOp nest;
  SmallVector<memref::AllocOp> results;       ///< of each result of the source
  llvm::SetVector<Operation *> images;        ///< those that are images
  SmallVector<memref::AllocOp> accumulators, scratch;
  SmallVector<memref::AllocOp> tables;        ///< workspace arrays
  llvm::SetVector<Value> saved;               ///< scalars that the nest or finish uses
  llvm::SetVector<Operation *> recomputed;    ///< constants, cloned where they are used
};
} // namespace

/// Can a value of this type be passed as nb_parameter_kind says.
static bool isParameter(Type type) {
  if (isa<IndexType, TableType>(type))
    return true;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank() == 3 &&
           (tensor.getElementType().isInteger(8) || tensor.getElementType().isF64());
  if (auto grid = dyn_cast<HklGridType>(type))
    return grid.getElementType().isF64();
  return elementTypeOf(type).isF64();
}

LogicalResult Outliner::findNest() {
  for (auto loop : source.getBody().front().getOps<scf::ForOp>()) {
    if (!loop->hasAttr("nb.loop"))
      continue;
    if (nest)
      return source.emitError("has two image loop nests; merge them with --nb-fuse first");
    nest = loop;
  }
  if (!nest)
    return source.emitError("has no image loop nest; run --convert-nb-to-loops first");
  return success();
}

LogicalResult Outliner::findResults() {
  for (OpOperand &returned : source.getBody().front().getTerminator()->getOpOperands()) {
    auto cast = returned.get().getDefiningOp<UnrealizedConversionCastOp>();
    auto memory = cast ? cast.getOperand(0).getDefiningOp<memref::AllocOp>() : memref::AllocOp();
    if (!memory)
      return source.emitError("result ") << returned.getOperandNumber()
                                         << " is not in memory; run --convert-nb-to-loops first";
    if (llvm::is_contained(results, memory))
      return source.emitError("result ") << returned.getOperandNumber()
                                         << " is returned before; return it once";
    results.push_back(memory);
    if (isa<RankedTensorType>(returned.get().getType()))
      images.insert(memory);
  }
  if (results.empty())
    return source.emitError("returns nothing");
  for (auto alloc : source.getBody().front().getOps<memref::AllocOp>()) {
    if (alloc->hasAttr(accumulatorAttrName))
      accumulators.push_back(alloc);
    else if (alloc->hasAttr(scratchAttrName))
      scratch.push_back(alloc);
    else if (!llvm::is_contained(results, alloc) ||
             (isBeforeNest(alloc) && !images.contains(alloc)))
      tables.push_back(alloc); // a result that prepare computes is copied at the end
  }
  return success();
}

/// What prepare leaves in the workspace for the nest and for what comes after it.
LogicalResult Outliner::findSaved() {
  SmallVector<Value> used;
  for (Operation *op = nest; op; op = op->getNextNode())
    op->walk([&](Operation *inner) { llvm::append_range(used, inner->getOperands()); });
  for (Value value : used) {
    Operation *definition = value.getDefiningOp();
    if (!definition || definition->getBlock() != nest->getBlock() || !isBeforeNest(definition))
      continue;
    if (definition->hasTrait<OpTrait::ConstantLike>())
      recomputed.insert(definition);
    else if (isa<UnrealizedConversionCastOp, memref::AllocOp>(definition))
      continue; // a split argument or memory, bound in every entry point
    else if (isa<FloatType, IntegerType, IndexType, VectorType>(value.getType()))
      saved.insert(value);
    else
      return definition->emitError("a value of type ")
             << value.getType() << " cannot be kept in the workspace; run --convert-nb-to-arith first";
  }
  return success();
}

LogicalResult Outliner::analyze() {
  if (failed(findNest()) || failed(findSaved()) || failed(findResults()))
    return failure();
  for (BlockArgument argument : source.getArguments())
    if (!isParameter(argument.getType()))
      return source.emitError("argument ")
             << argument.getArgNumber() << " of type " << argument.getType()
             << " is none of the kernel ABI's parameter kinds (f64, index, !nb.vec3<f64>, "
                "!nb.mat3<f64>, a table, an !nb.hkl_grid<f64> or a tensor of mask or image)";
  return success();
}

EntryPoint Outliner::begin(StringRef suffix, TypeRange inputs, Type result) {
  b.setInsertionPoint(source);
  return EntryPoint(b, (source.getName() + suffix).str(), inputs, result);
}

void Outliner::bindArguments(EntryPoint &entry, IRMapping &mapping) {
  for (BlockArgument argument : source.getArguments()) {
    int64_t number = argument.getArgNumber();
    Type type = argument.getType();
    if (isa<FloatType, IndexType>(type)) {
      mapping.map(argument, entry.argument(number, TypeRange{type}, type).front());
      continue;
    }
    for (Operation *user : argument.getUsers())
      if (auto cast = dyn_cast<UnrealizedConversionCastOp>(user))
        for (auto [part, value] : llvm::zip(
                 cast.getResults(), entry.argument(number, cast.getResultTypes(), type)))
          mapping.map(part, value);
  }
}

void Outliner::cloneSlice(Value value, OpBuilder &b, IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *definition = value.getDefiningOp();
  for (Value operand : definition->getOperands())
    cloneSlice(operand, b, mapping);
  b.clone(*definition, mapping);
}

Value Outliner::sizeOf(memref::AllocOp alloc, EntryPoint &entry, IRMapping &mapping) {
  Value size = alloc.getDynamicSizes().front();
  cloneSlice(size, entry.b, mapping);
  return mapping.lookup(size);
}

/// In units of 8 bytes.
static int64_t slotsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

Value Outliner::bindTables(EntryPoint &entry, IRMapping &mapping, Value workspace) {
  // The layout: saved scalars, then tables one after another.
  int64_t slots = 0;
  for (Value value : saved)
    slots += slotsOf(value.getType());
  Value position = entry.index(slots);
  for (memref::AllocOp table : tables) {
    Value size = sizeOf(table, entry, mapping);
    if (workspace)
      mapping.map(table.getResult(),
                  entry.buffer(entry.element(workspace, position), b.getF64Type()));
    position = arith::AddIOp::create(b, loc, position, size);
  }
  return position;
}

Value Outliner::bindBuffers(ArrayRef<memref::AllocOp> buffers, EntryPoint &entry,
                            IRMapping &mapping, Value memory) {
  constexpr int64_t cacheLine = 8;
  Value position = entry.index(0), mask = entry.index(-cacheLine);
  for (memref::AllocOp buffer : buffers) {
    Value size = sizeOf(buffer, entry, mapping);
    if (memory)
      mapping.map(buffer.getResult(),
                  entry.buffer(entry.element(memory, position), b.getF64Type()));
    position = arith::AddIOp::create(b, loc, position, size);
    Value next = arith::AddIOp::create(b, loc, position, entry.index(cacheLine - 1));
    position = arith::AndIOp::create(b, loc, next, mask);
  }
  return position;
}

void Outliner::bindSaved(EntryPoint &entry, IRMapping &mapping, Value workspace) {
  int64_t slot = 0;
  for (Value value : saved) {
    Type type = value.getType().isIndex() ? b.getI64Type() : value.getType();
    Value address = LLVM::GEPOp::create(b, loc, workspace.getType(), b.getF64Type(), workspace,
                                        ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    Value loaded = LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/8);
    mapping.map(value, value.getType().isIndex() ? entry.toIndex(loaded) : loaded);
    slot += slotsOf(type);
  }
  for (Operation *constant : recomputed)
    b.clone(*constant, mapping);
}

void Outliner::cloneOps(Block::iterator begin, Block::iterator end, IRMapping &mapping) {
  for (Operation &op : llvm::make_range(begin, end)) {
    bool bound = llvm::all_of(op.getResults(), [&](Value v) { return mapping.contains(v); });
    if (!isa<memref::AllocOp, UnrealizedConversionCastOp>(op) && !(op.getNumResults() && bound))
      b.clone(op, mapping);
  }
}

void Outliner::emitWorkspaceSize() {
  EntryPoint entry = begin("_workspace_size", {pointer()}, b.getI64Type());
  IRMapping mapping;
  bindArguments(entry, mapping);
  Value slots = entry.fromIndex(bindTables(entry, mapping, Value()));
  func::ReturnOp::create(b, loc, Value(arith::MulIOp::create(b, loc, slots, entry.integer(8))));
}

void Outliner::emitPrepare() {
  EntryPoint entry = begin("_prepare", {pointer(), pointer()});
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.input(1));
  Block &body = source.getBody().front();
  cloneOps(body.begin(), nest->getIterator(), mapping);
  int64_t slot = 0;
  for (Value value : saved) {
    Value stored = mapping.lookup(value);
    if (stored.getType().isIndex())
      stored = entry.fromIndex(stored);
    Value address = LLVM::GEPOp::create(b, loc, pointer(), b.getF64Type(), entry.input(1),
                                        ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    LLVM::StoreOp::create(b, loc, stored, address, /*alignment=*/8);
    slot += slotsOf(stored.getType());
  }
  func::ReturnOp::create(b, loc);
}

void Outliner::emitRunTile() {
  SmallVector<Type> inputs(6, pointer());
  EntryPoint entry = begin("_run_tile", inputs);
  Value tile = entry.input(2), outputs = entry.input(3);
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.input(1));
  for (auto [i, result] : llvm::enumerate(results))
    if (images.contains(result))
      mapping.map(result.getResult(), entry.buffer(entry.load(outputs, int64_t(i), pointer()),
                                                   result.getType().getElementType()));
  bindBuffers(accumulators, entry, mapping, entry.input(4));
  bindBuffers(scratch, entry, mapping, entry.input(5));
  bindSaved(entry, mapping, entry.input(1));
  Value panel = entry.load(tile, 0, b.getIndexType());
  Value begin = entry.load(tile, 1, b.getIndexType()), end = entry.load(tile, 2, b.getIndexType());
  Value nextPanel = arith::AddIOp::create(b, loc, panel, entry.index(1));
  // The loop bounds of the nest itself are replaced by the tile's.
  auto tiled = cast<scf::ForOp>(b.clone(*nest, mapping));
  tiled.setLowerBound(panel);
  tiled.setUpperBound(nextPanel);
  tiled->walk([&](scf::ForOp loop) {
    auto name = loop->getAttrOfType<StringAttr>("nb.loop");
    if (!name)
      return;
    if (name.getValue() == "slow") {
      loop.setLowerBound(begin);
      loop.setUpperBound(end);
    }
  });
  func::ReturnOp::create(b, loc);
}

/// Bytes of memory for the buffers.
void Outliner::emitSize(StringRef suffix, ArrayRef<memref::AllocOp> buffers) {
  EntryPoint entry = begin(suffix, {pointer()}, b.getI64Type());
  IRMapping mapping;
  bindArguments(entry, mapping);
  Value doubles = entry.fromIndex(bindBuffers(buffers, entry, mapping, Value()));
  func::ReturnOp::create(b, loc, Value(arith::MulIOp::create(b, loc, doubles, entry.integer(8))));
}

/// Adds to the first accumulator the others, one after another.
void Outliner::addAccumulators(EntryPoint &entry, Value memory, Value count, Value doubles) {
  auto vector = VectorType::get({8}, b.getF64Type()); // as many as the sizes are multiples of
  Value first = entry.buffer(entry.load(memory, 0, pointer()), b.getF64Type());
  SmallVector<Value> ivs;
  Value others = arith::SubIOp::create(b, loc, count, entry.index(1));
  Value groups = arith::DivUIOp::create(b, loc, doubles, entry.index(8));
  buildNest(b, loc, others, {}, ivs, [&](OpBuilder &b, ValueRange part, ValueRange) {
    Value number = arith::AddIOp::create(b, loc, part[0], entry.index(1));
    Value other = entry.buffer(entry.load(memory, number, pointer()), b.getF64Type());
    SmallVector<Value> inner;
    buildNest(b, loc, groups, {}, inner, [&](OpBuilder &b, ValueRange group, ValueRange) {
      Value position = arith::MulIOp::create(b, loc, group[0], entry.index(8));
      Value x = vector::LoadOp::create(b, loc, vector, first, ValueRange{position});
      Value y = vector::LoadOp::create(b, loc, vector, other, ValueRange{position});
      Value sum = arith::AddFOp::create(b, loc, x, y);
      vector::StoreOp::create(b, loc, sum, first, ValueRange{position});
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

void Outliner::emitFinish() {
  EntryPoint entry =
      begin("_finish", {pointer(), pointer(), pointer(), b.getI64Type(), pointer()});
  Value memory = entry.input(2), outputs = entry.input(4);
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.input(1));
  Value doubles =
      bindBuffers(accumulators, entry, mapping, entry.load(memory, 0, pointer()));
  addAccumulators(entry, memory, entry.toIndex(entry.input(3)), doubles);
  bindSaved(entry, mapping, entry.input(1));
  for (auto [i, result] : llvm::enumerate(results)) {
    if (images.contains(result))
      continue;
    Value place = entry.buffer(entry.load(outputs, int64_t(i), pointer()), b.getF64Type());
    if (!mapping.contains(result)) {
      mapping.map(result.getResult(), place);
      continue;
    }
    SmallVector<Value> ivs;
    Value table = mapping.lookup(result.getResult());
    buildNest(b, loc, sizeOf(result, entry, mapping), {}, ivs,
              [&](OpBuilder &b, ValueRange ivs, ValueRange) {
                Value number = memref::LoadOp::create(b, loc, table, ivs[0]);
                memref::StoreOp::create(b, loc, number, place, ivs[0]);
                return SmallVector<Value>();
              });
  }
  Operation *terminator = source.getBody().front().getTerminator();
  cloneOps(std::next(nest->getIterator()), terminator->getIterator(), mapping);
  func::ReturnOp::create(b, loc);
}

void Outliner::emitOutputSizes() {
  EntryPoint entry = begin("_output_sizes", {pointer(), pointer()});
  IRMapping mapping;
  bindArguments(entry, mapping);
  for (auto [i, result] : llvm::enumerate(results)) {
    Value size = entry.fromIndex(sizeOf(result, entry, mapping));
    Value address = LLVM::GEPOp::create(b, loc, pointer(), b.getI64Type(), entry.input(1),
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, size, address);
  }
  func::ReturnOp::create(b, loc);
}

LogicalResult Outliner::run() {
  if (failed(analyze()))
    return failure();
  emitWorkspaceSize();
  emitPrepare();
  emitRunTile();
  if (images.size() != results.size()) {
    emitSize("_accumulator_size", accumulators);
    emitSize("_scratch_size", scratch);
    emitFinish();
    emitOutputSizes();
  }
  source.erase();
  return success();
}

/// Replaces arguments that convert-nb-to-arith has split by their parts.
static void flattenArguments(func::FuncOp function) {
  if (function.isDeclaration())
    return;
  for (unsigned i = 0; i < function.getNumArguments();) {
    BlockArgument argument = function.getArgument(i);
    UnrealizedConversionCastOp split;
    if (argument.hasOneUse())
      split = dyn_cast<UnrealizedConversionCastOp>(*argument.user_begin());
    if (!split) {
      ++i;
      continue;
    }
    for (auto [j, part] : llvm::enumerate(split.getResults())) {
      (void)function.insertArgument(i + 1 + j, part.getType(), {}, argument.getLoc());
      part.replaceAllUsesWith(function.getArgument(i + 1 + j));
    }
    unsigned parts = split.getNumResults();
    split.erase();
    (void)function.eraseArgument(i);
    i += parts;
  }
}

namespace {
struct OutlineKernelPass : nb::impl::OutlineKernelBase<OutlineKernelPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool hasImage = false;
      function.walk([&](scf::ForOp loop) { hasImage |= loop->hasAttr("nb.loop"); });
      if (hasImage)
        functions.push_back(function);
      else
        flattenArguments(function);
    }
    for (func::FuncOp function : functions)
      if (failed(Outliner(function).run()))
        return signalPassFailure();
  }
};
} // namespace
