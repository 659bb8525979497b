// RUN: nb-opt %s --convert-nb-to-loops --convert-nb-to-arith --nb-outline-kernel | FileCheck %s

// What stands before the image goes to prepare and through the workspace; a tile runs the nest on
// its own rows.

// CHECK-LABEL: func.func @image_workspace_size
// CHECK-SAME: !llvm.ptr {llvm.noalias}) -> i64
// CHECK: return %{{.*}} : i64

// CHECK-LABEL: func.func @image_prepare
// CHECK-SAME: (%[[ARGS:.*]]: !llvm.ptr {llvm.noalias}, %[[WORKSPACE:.*]]: !llvm.ptr {llvm.noalias})
// CHECK: %[[AREA:.*]] = arith.mulf
// CHECK: scf.for
// CHECK: memref.store
// CHECK: llvm.store %[[AREA]], %{{.*}} {alignment = 8 : i64} : f64, !llvm.ptr
// CHECK-NOT: memref<?xf32>

// CHECK-LABEL: func.func @image_run_tile
// CHECK-SAME: %[[WORKSPACE:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[TILE:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[OUTPUTS:[^:]*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias})
// CHECK-NOT: arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> f64
// CHECK: scf.for
// CHECK: {nb.loop = #nb.dim<fast>}
// CHECK: {nb.loop = #nb.dim<slow>}
// CHECK: {nb.loop = #nb.dim<panel>}
// CHECK: return
// CHECK-NOT: func.func @image
func.func @image(%n: index, %size: f64, %domains: index) -> tensor<?x?x?xf32> {
  %area = arith.mulf %size, %size : f64
  %t = nb.tabulate mosaic %j in %domains : !nb.table<?xf64> {
    nb.yield %size : f64
  }
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf32> {
    %I = nb.sum mosaic %j in %domains : f64 {
      %x = nb.lookup %t[%j] : !nb.table<?xf64>
      %y = arith.addf %x, %area : f64
      nb.yield %y : f64
    }
    %v = arith.truncf %I : f64 to f32
    nb.yield %v : f32
  }
  return %img : tensor<?x?x?xf32>
}
