// RUN: nb-opt %s --convert-nb-to-loops --nb-outline-kernel | FileCheck %s

// What passes of MLIR's hoist in front of the loops, lists of indices too, goes through the workspace.

// CHECK-LABEL: func.func @image_prepare
// CHECK: %[[BROADCAST:.*]] = vector.broadcast
// CHECK: %[[LIST:.*]] = arith.index_cast %[[BROADCAST]] : vector<8xindex> to vector<8xi64>
// CHECK: llvm.store %[[LIST]], %{{.*}} {alignment = 8 : i64} : vector<8xi64>, !llvm.ptr
// CHECK-LABEL: func.func @image_run_tile
// CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<8xi64>
// CHECK: arith.index_cast %[[LOADED]] : vector<8xi64> to vector<8xindex>
func.func @image(%n: index) -> tensor<?x?x?xf64> {
  %list = vector.broadcast %n : index to vector<8xindex>
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = vector.extract %list[3] : index from vector<8xindex>
    %j = arith.addi %i, %p : index
    %k = arith.index_cast %j : index to i64
    %x = arith.sitofp %k : i64 to f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}
