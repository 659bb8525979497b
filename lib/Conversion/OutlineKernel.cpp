#include "lib/Conversion/Passes.h"

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
/// An entry point under construction: `void NAME(const void *const *arguments, ...)`.
struct EntryPoint {
  EntryPoint(OpBuilder &b, StringRef name, unsigned numPointers, Type result);

  /// pointer[index], as a value of `type`.
  Value load(Value pointer, int64_t index, Type type);
  /// A one-dimensional memref over memory at `pointer`.
  Value buffer(Value pointer, Type element);
  /// The values that a function argument of `type` splits into, read through arguments[number].
  SmallVector<Value> argument(int64_t number, TypeRange parts, Type type);
  Value integer(int64_t value);
  Value toIndex(Value i64);
  Value fromIndex(Value index);

  OpBuilder &b;
  Location loc;
  func::FuncOp function;
  Value pointer(unsigned i) { return function.getArgument(i); }
};

/// Splits one function into workspace_size, prepare and run_tile.
class Outliner {
public:
  explicit Outliner(func::FuncOp source) : source(source), b(source), loc(source.getLoc()) {}
  LogicalResult run();

private:
  LogicalResult analyze();
  void emitWorkspaceSize();
  void emitPrepare();
  void emitRunTile();

  /// Maps the arguments of the source, and the casts that split them.
  void bindArguments(EntryPoint &entry, IRMapping &mapping);
  /// Clones what `value` is computed from, as far as it stands before the nest.
  void cloneSlice(Value value, OpBuilder &b, IRMapping &mapping);
  /// Maps every table to its place in the workspace; returns the position after the last one.
  Value bindTables(EntryPoint &entry, IRMapping &mapping, Value workspace);

  func::FuncOp source;
  OpBuilder b;
  Location loc;
  scf::ForOp nest;
  memref::AllocOp image;
  SmallVector<memref::AllocOp> tables;   ///< workspace arrays
  llvm::SetVector<Value> saved;          ///< scalars that the nest uses
  llvm::SetVector<Operation *> recomputed; ///< constants, cloned where they are used
};
} // namespace

EntryPoint::EntryPoint(OpBuilder &builder, StringRef name, unsigned numPointers, Type result)
    : b(builder), loc(builder.getUnknownLoc()) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> inputs(numPointers, pointer);
  auto type = b.getFunctionType(inputs, result ? TypeRange{result} : TypeRange{});
  function = func::FuncOp::create(b, loc, name, type);
  for (unsigned i = 0; i < numPointers; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(function.addEntryBlock());
}

Value EntryPoint::integer(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value EntryPoint::toIndex(Value i64) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), i64);
}
Value EntryPoint::fromIndex(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

Value EntryPoint::load(Value pointer, int64_t index, Type type) {
  Type stored = type.isIndex() ? b.getI64Type() : type;
  Value address = LLVM::GEPOp::create(b, loc, pointer.getType(), stored, pointer,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
  Value value = LLVM::LoadOp::create(b, loc, stored, address);
  return type.isIndex() ? toIndex(value) : value;
}

Value EntryPoint::buffer(Value pointer, Type element) {
  MLIRContext *context = b.getContext();
  Type i64 = b.getI64Type(), array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      context, {pointer.getType(), pointer.getType(), i64, array, array});
  Value value = LLVM::PoisonOp::create(b, loc, descriptor);
  auto insert = [&](Value part, ArrayRef<int64_t> position) {
    value = LLVM::InsertValueOp::create(b, loc, value, part, position);
  };
  Value one = integer(1);
  insert(pointer, {0});
  insert(pointer, {1});
  insert(integer(0), {2});
  insert(integer(std::numeric_limits<int64_t>::max()), {3, 0});
  insert(one, {4, 0});
  Type type = MemRefType::get({ShapedType::kDynamic}, element);
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

SmallVector<Value> EntryPoint::argument(int64_t number, TypeRange parts, Type type) {
  Value address = load(pointer(0), number, pointer(0).getType());
  SmallVector<Value> values;
  if (isa<TableType, RankedTensorType>(type)) {
    values.push_back(buffer(address, cast<MemRefType>(parts[0]).getElementType()));
    return values;
  }
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (auto memref = dyn_cast<MemRefType>(part))
      values.push_back(buffer(load(address, i, address.getType()), memref.getElementType()));
    else
      values.push_back(load(address, i, part));
  }
  return values;
}

/// Can a value of this type be passed as nb_parameter_kind says.
static bool isParameter(Type type) {
  if (isa<IndexType, TableType>(type))
    return true;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank() == 3 && tensor.getElementType().isInteger(8);
  if (auto grid = dyn_cast<HklGridType>(type))
    return grid.getElementType().isF64();
  return elementTypeOf(type).isF64();
}

LogicalResult Outliner::analyze() {
  Block &body = source.getBody().front();
  for (Operation &op : body) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->hasAttr("nb.loop")) {
      if (nest)
        return source.emitError("has two image loop nests; merge them with --nb-fuse first");
      nest = loop;
    }
  }
  if (!nest)
    return source.emitError("has no image loop nest; run --convert-nb-to-loops first");

  auto isBefore = [&](Value value) {
    return value.getParentBlock() == &body && !isa<BlockArgument>(value);
  };
  SmallVector<Value> used;
  nest->walk([&](Operation *op) { llvm::append_range(used, op->getOperands()); });
  for (Value value : used) {
    if (!isBefore(value))
      continue;
    Operation *definition = value.getDefiningOp();
    if (auto alloc = dyn_cast<memref::AllocOp>(definition)) {
      bool isImage = llvm::any_of(alloc->getUsers(), [](Operation *user) {
        return isa<UnrealizedConversionCastOp>(user);
      });
      if (isImage && image && image != alloc)
        return source.emitError("has two images; a kernel renders one");
      if (isImage)
        image = alloc;
      continue;
    }
    if (definition->hasTrait<OpTrait::ConstantLike>())
      recomputed.insert(definition);
    else if (isa<UnrealizedConversionCastOp>(definition))
      continue; // a split argument, bound from the arguments in every entry point
    else if (isa<FloatType, IntegerType, IndexType, VectorType>(value.getType()))
      saved.insert(value);
    else
      return definition->emitError("a value of type ")
             << value.getType() << " cannot be kept in the workspace; run --convert-nb-to-arith first";
  }
  if (!image)
    return source.emitError("has no image that is returned");
  for (BlockArgument argument : source.getArguments())
    if (!isParameter(argument.getType()))
      return source.emitError("argument ")
             << argument.getArgNumber() << " of type " << argument.getType()
             << " is none of the kernel ABI's parameter kinds (f64, index, !nb.vec3<f64>, "
                "!nb.mat3<f64>, a table, an !nb.hkl_grid<f64> or a mask tensor)";
  for (auto alloc : body.getOps<memref::AllocOp>())
    if (alloc != image)
      tables.push_back(alloc);
  return success();
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

Value Outliner::bindTables(EntryPoint &entry, IRMapping &mapping, Value workspace) {
  // The layout: saved scalars, then tables one after another, in units of 8 bytes.
  int64_t slots = 0;
  for (Value value : saved) {
    auto vector = dyn_cast<VectorType>(value.getType());
    slots += vector ? vector.getNumElements() : 1;
  }
  Value position = arith::ConstantIndexOp::create(entry.b, loc, slots);
  for (memref::AllocOp table : tables) {
    Value size = table.getDynamicSizes().front();
    cloneSlice(size, entry.b, mapping);
    if (workspace) {
      Value address =
          LLVM::GEPOp::create(entry.b, loc, workspace.getType(), entry.b.getF64Type(), workspace,
                              ArrayRef<LLVM::GEPArg>{entry.fromIndex(position)});
      mapping.map(table.getResult(), entry.buffer(address, entry.b.getF64Type()));
    }
    position = arith::AddIOp::create(entry.b, loc, position, mapping.lookup(size));
  }
  return position;
}

void Outliner::emitWorkspaceSize() {
  EntryPoint entry(b, (source.getName() + "_workspace_size").str(), 1, b.getI64Type());
  IRMapping mapping;
  bindArguments(entry, mapping);
  Value slots = entry.fromIndex(bindTables(entry, mapping, Value()));
  Value bytes = arith::MulIOp::create(b, loc, slots, entry.integer(8));
  func::ReturnOp::create(b, loc, bytes);
}

void Outliner::emitPrepare() {
  EntryPoint entry(b, (source.getName() + "_prepare").str(), 2, Type());
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, entry.pointer(1));
  for (Operation &op : source.getBody().front()) {
    bool bound = llvm::all_of(op.getResults(), [&](Value v) { return mapping.contains(v); });
    if (&op == nest || &op == image || op.hasTrait<OpTrait::IsTerminator>() ||
        isa<UnrealizedConversionCastOp>(op) || (op.getNumResults() && bound))
      continue;
    b.clone(op, mapping);
  }
  int64_t slot = 0;
  for (Value value : saved) {
    Value stored = mapping.lookup(value);
    if (stored.getType().isIndex())
      stored = entry.fromIndex(stored);
    Value address = LLVM::GEPOp::create(b, loc, entry.pointer(1).getType(), b.getF64Type(),
                                        entry.pointer(1), ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    LLVM::StoreOp::create(b, loc, stored, address, /*alignment=*/8);
    auto vector = dyn_cast<VectorType>(stored.getType());
    slot += vector ? vector.getNumElements() : 1;
  }
  func::ReturnOp::create(b, loc);
}

void Outliner::emitRunTile() {
  EntryPoint entry(b, (source.getName() + "_run_tile").str(), 4, Type());
  Value workspace = entry.pointer(1), tile = entry.pointer(2);
  IRMapping mapping;
  bindArguments(entry, mapping);
  bindTables(entry, mapping, workspace);
  mapping.map(image.getResult(),
              entry.buffer(entry.pointer(3), image.getType().getElementType()));
  int64_t slot = 0;
  for (Value value : saved) {
    mapping.map(value, [&] {
      Type type = value.getType().isIndex() ? b.getI64Type() : value.getType();
      Value address = LLVM::GEPOp::create(b, loc, workspace.getType(), b.getF64Type(), workspace,
                                          ArrayRef<LLVM::GEPArg>{int32_t(slot)});
      Value loaded = LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/8);
      auto vector = dyn_cast<VectorType>(type);
      slot += vector ? vector.getNumElements() : 1;
      return value.getType().isIndex() ? entry.toIndex(loaded) : loaded;
    }());
  }
  for (Operation *constant : recomputed)
    b.clone(*constant, mapping);
  Value panel = entry.load(tile, 0, b.getIndexType());
  Value begin = entry.load(tile, 1, b.getIndexType()), end = entry.load(tile, 2, b.getIndexType());
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  // The loop bounds of the nest itself are replaced by the tile's.
  auto tiled = cast<scf::ForOp>(b.clone(*nest, mapping));
  tiled.setLowerBound(panel);
  Value nextPanel;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(tiled);
    nextPanel = arith::AddIOp::create(b, loc, panel, one);
  }
  tiled.setUpperBound(nextPanel);
  tiled->walk([&](scf::ForOp loop) {
    auto name = loop->getAttrOfType<StringAttr>("nb.loop");
    if (!name)
      return;
    if (name.getValue() == "slow") {
      loop.setLowerBound(begin);
      loop.setUpperBound(end);
    }
    loop->removeAttr("nb.loop");
  });
  func::ReturnOp::create(b, loc);
}

LogicalResult Outliner::run() {
  if (failed(analyze()))
    return failure();
  for (auto emit : {&Outliner::emitWorkspaceSize, &Outliner::emitPrepare, &Outliner::emitRunTile}) {
    b.setInsertionPoint(source);
    (this->*emit)();
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
