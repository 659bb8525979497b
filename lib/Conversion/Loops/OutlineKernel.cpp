#include "dialect/Names.h"
#include "lib/Conversion/KernelLayout.h"
#include "lib/Conversion/Loops/EntryPoint.h"
#include "lib/Conversion/Loops/KernelPlan.h"
#include "lib/Conversion/Loops/LoopNest.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-outline-kernel"

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
  explicit Outliner(KernelPlan plan)
      : plan(std::move(plan)), source(this->plan.source), b(source), loc(source.getLoc()) {}
  void run();

private:
  DictionaryAttr signature();
  void emitWorkspaceSize();
  void emitPrepare();
  void emitRunTile();
  void emitFinish();
  void emitOutputSizes();
  void emitReach();

  EntryPoint begin(StringRef suffix, TypeRange inputs, Type result = {});
  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  /// Maps the arguments of the source, and their parts.
  void bindArguments(EntryPoint &entry, IRMapping &mapping);
  /// Clones what `value` is computed from, as far as it stands before the nest.
  void cloneSlice(Value value, OpBuilder &b, IRMapping &mapping);
  Value sizeOf(memref::AllocOp alloc, EntryPoint &entry, IRMapping &mapping);
  /// Maps every table to its place in the workspace; returns the position after the last one.
  Value bindTables(EntryPoint &entry, IRMapping &mapping, Value workspace,
                   DenseMap<Value, Value> *positions = nullptr);
  /// Maps the buffers to memory at `memory`, if given; returns how many doubles they take.
  Value bindBuffers(ArrayRef<memref::AllocOp> buffers, EntryPoint &entry, IRMapping &mapping,
                    Value memory);
  void emitSize(StringRef suffix, ArrayRef<memref::AllocOp> buffers);
  void bindSaved(EntryPoint &entry, IRMapping &mapping, Value workspace);
  void addAccumulators(EntryPoint &entry, Value accumulators, Value count, Value doubles);
  /// Clones ops of the source that are no memory and have not been mapped.
  void cloneOps(Block::iterator begin, Block::iterator end, IRMapping &mapping);

  KernelPlan plan;
  func::FuncOp source;
  OpBuilder b;
  Location loc;
};
} // namespace

EntryPoint Outliner::begin(StringRef suffix, TypeRange inputs, Type result) {
  b.setInsertionPoint(source);
  return EntryPoint(b, source.getLoc(), (source.getName() + suffix).str(), inputs, result);
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
      if (auto parts = dyn_cast<PartsOp>(user))
        for (auto [part, value] :
             llvm::zip(parts.getParts(), entry.argument(number, parts.getResultTypes(), type)))
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

Value Outliner::bindTables(EntryPoint &entry, IRMapping &mapping, Value workspace,
                           DenseMap<Value, Value> *positions) {
  // The layout: saved scalars, then tables one after another.
  int64_t slots = 0;
  for (Value value : plan.saved)
    slots += slotsOf(value.getType());
  Value position = entry.index(slots);
  for (memref::AllocOp table : plan.tables) {
    Value size = sizeOf(table, entry, mapping);
    if (positions)
      (*positions)[table] = position;
    if (workspace)
      mapping.map(table.getResult(),
                  entry.buffer(entry.element(workspace, position), b.getF64Type()));
    position = arith::AddIOp::create(b, loc, position, size);
  }
  return position;
}

Value Outliner::bindBuffers(ArrayRef<memref::AllocOp> buffers, EntryPoint &entry,
                            IRMapping &mapping, Value memory) {
  Value position = entry.index(0), mask = entry.index(-layout::cacheLine);
  for (memref::AllocOp buffer : buffers) {
    Value size = sizeOf(buffer, entry, mapping);
    if (memory)
      mapping.map(buffer.getResult(),
                  entry.buffer(entry.element(memory, position), b.getF64Type()));
    position = arith::AddIOp::create(b, loc, position, size);
    Value next = arith::AddIOp::create(b, loc, position, entry.index(layout::cacheLine - 1));
    position = arith::AndIOp::create(b, loc, next, mask);
  }
  return position;
}

void Outliner::bindSaved(EntryPoint &entry, IRMapping &mapping, Value workspace) {
  int64_t slot = 0;
  for (Value value : plan.saved) {
    Type type = EntryPoint::storedType(value.getType());
    Value address = LLVM::GEPOp::create(b, loc, workspace.getType(), b.getF64Type(), workspace,
                                        ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    Value loaded = LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/8);
    mapping.map(value, type == value.getType() ? loaded : entry.toIndex(loaded));
    slot += slotsOf(type);
  }
  for (Operation *constant : plan.recomputed)
    b.clone(*constant, mapping);
}

void Outliner::cloneOps(Block::iterator begin, Block::iterator end, IRMapping &mapping) {
  for (Operation &op : llvm::make_range(begin, end)) {
    bool bound = llvm::all_of(op.getResults(), [&](Value v) { return mapping.contains(v); });
    if (!isa<memref::AllocOp, PartsOp, StoredOp, ReachOp>(op) && !(op.getNumResults() && bound))
      b.clone(op, mapping);
  }
}

void Outliner::emitWorkspaceSize() {
  EntryPoint entry = begin(names::workspaceSize, {pointer()}, b.getI64Type());
  IRMapping mapping;
  bindArguments(entry, mapping);
  Value slots = entry.fromIndex(bindTables(entry, mapping, Value()));
  Value bytes = arith::MulIOp::create(b, loc, slots, entry.integer(layout::slotBytes));
  func::ReturnOp::create(b, loc, bytes);
}

void Outliner::emitPrepare() {
  EntryPoint entry = begin(names::prepare, {pointer(), pointer()});
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.input(layout::workspace));
  Block &body = source.getBody().front();
  cloneOps(body.begin(), plan.nest->getIterator(), mapping);
  int64_t slot = 0;
  for (Value value : plan.saved) {
    Value stored = mapping.lookup(value);
    if (EntryPoint::storedType(stored.getType()) != stored.getType())
      stored = entry.fromIndex(stored);
    Value address =
        LLVM::GEPOp::create(b, loc, pointer(), b.getF64Type(), entry.input(layout::workspace),
                            ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    LLVM::StoreOp::create(b, loc, stored, address, /*alignment=*/8);
    slot += slotsOf(stored.getType());
  }
  func::ReturnOp::create(b, loc);
}

/// For whoever describes the kernel when the function is gone: code generation.
DictionaryAttr Outliner::signature() {
  auto nameIn = [&](DictionaryAttr attributes) -> Attribute {
    auto name = attributes ? attributes.getAs<StringAttr>(names::name) : StringAttr();
    return name ? name : b.getStringAttr("");
  };
  SmallVector<Attribute> arguments, results;
  for (unsigned i = 0; i != source.getNumArguments(); ++i)
    arguments.push_back(nameIn(source.getArgAttrDict(i)));
  for (unsigned i = 0; i != source.getNumResults(); ++i)
    results.push_back(nameIn(source.getResultAttrDict(i)));
  SmallVector<NamedAttribute> record = {
      b.getNamedAttr("arguments", b.getArrayAttr(arguments)),
      b.getNamedAttr("name", source.getSymNameAttr()),
      b.getNamedAttr("results", b.getArrayAttr(results)),
      b.getNamedAttr("type", b.getStringAttr(debugString(source.getFunctionType())))};
  SmallVector<NamedAttribute> fixed;
  for (unsigned i = 0; i != source.getNumArguments(); ++i)
    if (Attribute count = source.getArgAttr(i, names::fixed))
      fixed.push_back(b.getNamedAttr(cast<StringAttr>(arguments[i]).getValue(), count));
  if (!fixed.empty())
    record.push_back(b.getNamedAttr("fixed", b.getDictionaryAttr(fixed)));
  return b.getDictionaryAttr(record);
}

void Outliner::emitRunTile() {
  SmallVector<Type> inputs(layout::argumentsOfRunTile, pointer());
  EntryPoint entry = begin(names::runTile, inputs);
  entry.function->setAttr(names::kernel, signature());
  Value tile = entry.input(layout::tile), outputs = entry.input(layout::outputs);
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.input(layout::workspace));
  for (auto [i, result] : llvm::enumerate(plan.results))
    if (plan.images.contains(result))
      mapping.map(result.getResult(), entry.buffer(entry.load(outputs, int64_t(i), pointer()),
                                                   result.getType().getElementType()));
  bindBuffers(plan.accumulators, entry, mapping, entry.input(layout::accumulators));
  bindBuffers(plan.scratch, entry, mapping, entry.input(layout::scratch));
  bindSaved(entry, mapping, entry.input(layout::workspace));
  Value panel = entry.load(tile, layout::panel, b.getIndexType());
  Value begin = entry.load(tile, layout::slowBegin, b.getIndexType());
  Value end = entry.load(tile, layout::slowEnd, b.getIndexType());
  if (!plan.litLists.empty()) {
    Value lit = entry.load(tile, layout::lit, pointer());
    begin = entry.index(0);
    end = entry.load(lit, layout::blocks, b.getIndexType());
    for (memref::AllocOp list : plan.litLists) {
      int64_t number = list->getAttrOfType<IntegerAttr>(names::litList).getInt();
      mapping.map(list.getResult(),
                  entry.buffer(entry.load(lit, layout::litSlow + number, pointer()),
                               list.getType().getElementType()));
    }
  }
  Value nextPanel = arith::AddIOp::create(b, loc, panel, entry.index(1));
  // The loop bounds of the nest itself are replaced by the tile's.
  auto tiled = cast<scf::ForOp>(b.clone(*plan.nest, mapping));
  tiled.setLowerBound(panel);
  tiled.setUpperBound(nextPanel);
  tiled->walk([&](scf::ForOp loop) {
    auto over = loop->getAttrOfType<DimensionAttr>(names::loop);
    if (over && over.getValue() == Dimension::slow) {
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
  Value bytes = arith::MulIOp::create(b, loc, doubles, entry.integer(layout::slotBytes));
  func::ReturnOp::create(b, loc, bytes);
}

/// Adds to the first accumulator the others, one after another.
void Outliner::addAccumulators(EntryPoint &entry, Value memory, Value count, Value doubles) {
  // As many at once as the sizes are multiples of.
  auto vector = VectorType::get({layout::cacheLine}, b.getF64Type());
  Value first = entry.buffer(entry.load(memory, 0, pointer()), b.getF64Type());
  SmallVector<Value> ivs;
  Value others = arith::SubIOp::create(b, loc, count, entry.index(1));
  Value groups = arith::DivUIOp::create(b, loc, doubles, entry.index(layout::cacheLine));
  buildNest(b, loc, others, {}, ivs, [&](OpBuilder &b, ValueRange part, ValueRange) {
    Value number = arith::AddIOp::create(b, loc, part[0], entry.index(1));
    Value other = entry.buffer(entry.load(memory, number, pointer()), b.getF64Type());
    SmallVector<Value> inner;
    buildNest(b, loc, groups, {}, inner, [&](OpBuilder &b, ValueRange group, ValueRange) {
      Value position = arith::MulIOp::create(b, loc, group[0], entry.index(layout::cacheLine));
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
      begin(names::finish, {pointer(), pointer(), pointer(), b.getI64Type(), pointer()});
  Value memory = entry.input(layout::finishAccumulators);
  Value outputs = entry.input(layout::finishOutputs);
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.input(layout::workspace));
  Value doubles = bindBuffers(plan.accumulators, entry, mapping, entry.load(memory, 0, pointer()));
  addAccumulators(entry, memory, entry.toIndex(entry.input(layout::finishCount)), doubles);
  bindSaved(entry, mapping, entry.input(layout::workspace));
  for (auto [i, result] : llvm::enumerate(plan.results)) {
    if (plan.images.contains(result))
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
  cloneOps(std::next(plan.nest->getIterator()), terminator->getIterator(), mapping);
  func::ReturnOp::create(b, loc);
}

void Outliner::emitOutputSizes() {
  EntryPoint entry = begin(names::outputSizes, {pointer(), pointer()});
  IRMapping mapping;
  bindArguments(entry, mapping);
  for (auto [i, result] : llvm::enumerate(plan.results)) {
    Value size = entry.fromIndex(sizeOf(result, entry, mapping));
    Value address =
        LLVM::GEPOp::create(b, loc, pointer(), b.getI64Type(), entry.input(layout::sizes),
                            ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, size, address);
  }
  func::ReturnOp::create(b, loc);
}

void Outliner::emitReach() {
  EntryPoint entry = begin(names::reach, {pointer(), pointer()});
  IRMapping mapping;
  DenseMap<Value, Value> positions;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, Value(), &positions);
  for (auto [i, table] : llvm::enumerate(plan.reach.getTables())) {
    Value address =
        LLVM::GEPOp::create(b, loc, pointer(), b.getI64Type(), entry.input(layout::sizes),
                            ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, entry.fromIndex(positions.lookup(table)), address);
  }
  func::ReturnOp::create(b, loc);
}

void Outliner::run() {
  nb::remarkPassed(
      loc, remark::RemarkOpts::name("outlined").category(DEBUG_TYPE).function(source.getName()))
      << remark::add("entry points of a kernel: {0} table(s) in its workspace and {1} number(s) "
                     "computed ahead of the loops, {2} accumulator(s)",
                     plan.tables.size(), plan.saved.size(), plan.accumulators.size());
  emitWorkspaceSize();
  emitPrepare();
  emitRunTile();
  if (plan.images.size() != plan.results.size()) {
    emitSize(names::accumulatorSize, plan.accumulators);
    emitSize(names::scratchSize, plan.scratch);
    emitFinish();
    emitOutputSizes();
  }
  if (plan.reach)
    emitReach();
  source.erase();
}

/// Replaces arguments that are used by their parts alone by these.
static void flattenArguments(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments();) {
    BlockArgument argument = function.getArgument(i);
    PartsOp split;
    if (argument.hasOneUse())
      split = dyn_cast<PartsOp>(*argument.user_begin());
    if (!split) {
      ++i;
      continue;
    }
    for (auto [j, part] : llvm::enumerate(split.getParts())) {
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
    // All of the module is looked at before any of it is changed.
    std::vector<KernelPlan> plans;
    SmallVector<func::FuncOp> others;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      // An entry point's loops stay.
      bool outlined =
          llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<LLVM::LLVMPointerType>);
      if (outlined || !KernelPlan::hasNest(function)) {
        others.push_back(function);
        continue;
      }
      FailureOr<KernelPlan> plan = KernelPlan::of(function);
      if (failed(plan))
        return signalPassFailure();
      plans.push_back(std::move(*plan));
    }
    llvm::for_each(others, flattenArguments);
    if (plans.empty())
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "",
                    "no function has the loops of an image; run --convert-nb-to-loops first");
    LDBG() << plans.size() << " kernel(s), " << others.size() << " other function(s)";
    outlined += plans.size();
    for (KernelPlan &plan : plans)
      Outliner(std::move(plan)).run();
  }
};
} // namespace
