#include "lib/Conversion/Loops/KernelPlan.h"

#include "dialect/NB.h"
#include "dialect/Names.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;

bool KernelPlan::hasNest(func::FuncOp function) {
  return function
      .walk([](scf::ForOp loop) {
        return loop->hasAttr(names::loop) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult KernelPlan::findNest() {
  if (!source.getBody().hasOneBlock())
    return source.emitError("has several blocks; a kernel's control flow is scf");
  for (auto loop : source.getBody().front().getOps<scf::ForOp>()) {
    if (!loop->hasAttr(names::loop))
      continue;
    if (nest)
      return source.emitError(
          "has two image loop nests, and a kernel has one: --nb-fuse merges images of the same "
          "size of which none needs another one's pixels; put other ones into functions of their "
          "own, and write conditions into the images");
    nest = loop;
  }
  if (!nest)
    return source.emitError("has no image loop nest; run --convert-nb-to-loops first");
  return checkTiles();
}

/// Is the value this number, lowered or not?
static bool isWhole(Value value, int64_t number) {
  if (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>(); cast && cast.getNumOperands())
    value = cast.getOperand(0);
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.getSExtValue() == number;
}

/// A tile's panel and rows take the place of the bounds of these loops.
LogicalResult KernelPlan::checkTiles() {
  bool hasRows = false;
  WalkResult walked = nest->walk([&](scf::ForOp loop) {
    auto over = loop->getAttrOfType<DimensionAttr>(names::loop);
    const bool rows = over && over.getValue() == Dimension::slow;
    hasRows |= rows;
    if ((!rows && loop != nest) || (isWhole(loop.getLowerBound(), 0) && isWhole(loop.getStep(), 1)))
      return WalkResult::advance();
    loop.emitError("the loop over ") << (rows ? "rows" : "panels")
                                     << " no longer goes from 0 in steps of 1, as a tile's does; "
                                        "what changed it belongs after --nb-outline-kernel";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  auto outer = nest->getAttrOfType<DimensionAttr>(names::loop);
  if (hasRows && outer && outer.getValue() == Dimension::panel)
    return success();
  return nest.emitError("the loops over panels and rows are no longer one in the other, which a "
                        "tile bounds; what merged or dissolved them (affine-loop-coalescing) "
                        "belongs after --nb-outline-kernel");
}

LogicalResult KernelPlan::findResults() {
  for (OpOperand &returned : source.getBody().front().getTerminator()->getOpOperands()) {
    auto stored = returned.get().getDefiningOp<StoredOp>();
    auto memory = stored ? stored.getBuffer().getDefiningOp<memref::AllocOp>() : memref::AllocOp();
    if (!memory)
      return source.emitError("result ")
             << returned.getOperandNumber() << " is not in memory; run --convert-nb-to-loops first";
    if (llvm::is_contained(results, memory))
      return source.emitError("result ")
             << returned.getOperandNumber() << " is returned before; return it once";
    results.push_back(memory);
    if (isa<RankedTensorType>(returned.get().getType()))
      images.insert(memory);
  }
  if (results.empty())
    return source.emitError("returns nothing");
  for (auto found : source.getBody().front().getOps<ReachOp>())
    reach = found;
  for (auto alloc : source.getBody().front().getOps<memref::AllocOp>()) {
    if (alloc->hasAttr(names::accumulator))
      accumulators.push_back(alloc);
    else if (alloc->hasAttr(names::scratch))
      scratch.push_back(alloc);
    else if (alloc->hasAttr(names::litList))
      litLists.push_back(alloc);
    else if (!llvm::is_contained(results, alloc) ||
             (isBeforeNest(alloc) && !images.contains(alloc)))
      tables.push_back(alloc); // a result that prepare computes is copied at the end
  }
  return success();
}

/// Numbers and lists of them.
static bool isKept(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getRank() == 1 && !vector.isScalable();
  return isa<FloatType, IntegerType, IndexType>(type);
}

/// Finds the values that prepare leaves in the workspace for the nest and for the code after it.
LogicalResult KernelPlan::findSaved() {
  Operation *terminator = nest->getBlock()->getTerminator();
  SmallVector<Value> used;
  for (Operation *op = nest; op != terminator; op = op->getNextNode())
    op->walk([&](Operation *inner) { llvm::append_range(used, inner->getOperands()); });
  for (auto stored : source.getBody().front().getOps<StoredOp>())
    for (Operation *user : stored->getUsers())
      if (user != terminator)
        return user->emitError()
               << "'" << user->getName()
               << "' uses a value that lies in memory; only a kernel's return can";
  for (Value value : used) {
    Operation *definition = value.getDefiningOp();
    if (!definition || definition->getBlock() != nest->getBlock() || !isBeforeNest(definition))
      continue;
    if (definition->hasTrait<OpTrait::ConstantLike>())
      recomputed.insert(definition);
    else if (isa<PartsOp, memref::AllocOp>(definition))
      continue; // an argument or memory, bound in every entry point
    else if (isKept(value.getType()))
      saved.insert(value);
    else
      return definition->emitError("a value of type ")
             << value.getType() << " cannot be kept in the workspace; "
             << (isa<NBDialect>(value.getType().getDialect())
                     ? "run --convert-nb-to-arith first"
                     : "what lowers memory (finalize-memref-to-llvm, convert-to-llvm) belongs "
                       "after --nb-outline-kernel");
  }
  return success();
}

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

LogicalResult KernelPlan::checkArguments() {
  for (BlockArgument argument : source.getArguments()) {
    Type type = argument.getType();
    if (!isParameter(type))
      return source.emitError("argument ")
             << argument.getArgNumber() << " of type " << type
             << " is not one of the kernel ABI's parameter kinds (f64, index, !nb.vec3<f64>, "
                "!nb.mat3<f64>, a table, an !nb.hkl_grid<f64> or a tensor of mask or image)";
    if (isa<FloatType, IndexType>(type))
      continue;
    for (Operation *user : argument.getUsers())
      if (!isa<PartsOp>(user))
        return user->emitError() << "'" << user->getName() << "' takes a value of type " << type
                                 << " as a whole; run --convert-nb-to-loops and "
                                    "--convert-nb-to-arith first";
  }
  return success();
}

/// An op that `value` is computed from and that cannot be computed once more, or null.
static Operation *findUnrepeatable(Value value) {
  Operation *definition = value.getDefiningOp();
  if (!definition || isa<PartsOp>(definition))
    return nullptr;
  if (!isMemoryEffectFree(definition) || definition->getNumRegions() != 0)
    return definition;
  for (Value operand : definition->getOperands())
    if (Operation *found = findUnrepeatable(operand))
      return found;
  return nullptr;
}

/// Every entry point computes anew how much memory there is.
LogicalResult KernelPlan::checkSizes() {
  SmallVector<memref::AllocOp> memory(results);
  for (ArrayRef<memref::AllocOp> more :
       {ArrayRef(accumulators), ArrayRef(scratch), ArrayRef(tables)})
    llvm::append_range(memory, more);
  for (memref::AllocOp alloc : memory) {
    if (alloc.getType().getRank() != 1 || alloc.getDynamicSizes().size() != 1)
      return alloc.emitError("memory of a kernel has one dimension of unknown size, but got ")
             << alloc.getType();
    Operation *from = findUnrepeatable(alloc.getDynamicSizes().front());
    if (!from)
      continue;
    InFlightDiagnostic error = alloc.emitError("its size is not known ahead of a kernel's run");
    error.attachNote(from->getLoc()) << "it is computed from this";
    return error;
  }
  return success();
}

FailureOr<KernelPlan> KernelPlan::of(func::FuncOp function) {
  KernelPlan plan(function);
  if (failed(plan.findNest()) || failed(plan.findSaved()) || failed(plan.findResults()) ||
      failed(plan.checkSizes()) || failed(plan.checkArguments()))
    return failure();
  return plan;
}
