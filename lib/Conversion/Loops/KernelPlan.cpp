#include "lib/Conversion/Loops/KernelPlan.h"

#include "dialect/NB.h"
#include "dialect/Names.h"

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
      return source.emitError("has two image loop nests; merge them with --nb-fuse first");
    nest = loop;
  }
  if (!nest)
    return source.emitError("has no image loop nest; run --convert-nb-to-loops first");
  return success();
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

/// What prepare leaves in the workspace for the nest and for what comes after it.
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
    else if (isa<FloatType, IntegerType, IndexType, VectorType>(value.getType()))
      saved.insert(value);
    else
      return definition->emitError("a value of type ")
             << value.getType()
             << " cannot be kept in the workspace; run --convert-nb-to-arith first";
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
             << " is none of the kernel ABI's parameter kinds (f64, index, !nb.vec3<f64>, "
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
