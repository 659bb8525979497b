// The plan that distributes the ops of a function over the entry points of its kernel.
#ifndef NB_CONVERSION_KERNELPLAN_H
#define NB_CONVERSION_KERNELPLAN_H

#include "dialect/NB.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nb {

/// A function after convert-nb-to-loops and convert-nb-to-arith: what is ahead of the loops over
/// pixels is for prepare, the loops are for run_tile, what is behind them for finish.
struct KernelPlan {
  /// An error where the function is no such one. Nothing has been changed then.
  static FailureOr<KernelPlan> of(func::FuncOp function);

  /// Does the function have loops over pixels?
  static bool hasNest(func::FuncOp function);

  bool isBeforeNest(Operation *op) { return op->isBeforeInBlock(nest); }

  func::FuncOp source;
  scf::ForOp nest;
  SmallVector<memref::AllocOp> results; ///< the memory of each result of the function
  llvm::SetVector<Operation *> images;  ///< those that are images
  SmallVector<memref::AllocOp> accumulators, scratch;
  SmallVector<memref::AllocOp> litLists;   ///< lists that nb_lit fills
  ReachOp reach;                           ///< null: all samples are computed
  SmallVector<memref::AllocOp> tables;     ///< in the workspace
  llvm::SetVector<Value> saved;            ///< numbers in the workspace, for nest and finish
  llvm::SetVector<Operation *> recomputed; ///< constants, cloned where they are used

private:
  explicit KernelPlan(func::FuncOp source) : source(source) {}
  LogicalResult findNest();
  LogicalResult checkTiles();
  LogicalResult findResults();
  LogicalResult findSaved();
  LogicalResult checkSizes();
  LogicalResult checkArguments();
};

} // namespace mlir::nb

#endif
