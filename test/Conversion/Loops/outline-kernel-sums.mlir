// RUN: nb-opt %s --convert-nb-to-loops --convert-nb-to-arith --nb-outline-kernel | FileCheck %s

// A kernel with sums over pixels: what stands behind the image goes to finish, after the accumulators
// have been added up.

// CHECK-LABEL: func.func @image_run_tile
// CHECK-SAME: %[[ACCUMULATOR:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[SCRATCH:[^:]*]]: !llvm.ptr {llvm.noalias})
// CHECK: scf.for
// CHECK-NOT: arith.divf
// CHECK: return

// CHECK-LABEL: func.func @image_accumulator_size
// CHECK-SAME: -> i64
// CHECK-LABEL: func.func @image_scratch_size
// CHECK-SAME: -> i64

// CHECK-LABEL: func.func @image_finish
// CHECK-SAME: (%{{.*}}: !llvm.ptr {llvm.noalias}, %[[WORKSPACE:.*]]: !llvm.ptr {llvm.noalias}, %[[ACCUMULATORS:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %[[OUTPUTS:.*]]: !llvm.ptr {llvm.noalias})
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.load
// CHECK: vector.load
// CHECK: arith.addf
// CHECK: vector.store
// CHECK: %[[SAVED:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> f64
// CHECK: %[[SUM:.*]] = memref.load
// CHECK: %[[QUOTIENT:.*]] = arith.divf %[[SUM]], %[[SAVED]]
// CHECK: memref.store %[[QUOTIENT]]

// CHECK-LABEL: func.func @image_output_sizes
// CHECK-COUNT-2: llvm.store %{{.*}} : i64, !llvm.ptr
func.func @image(%n: index, %x: f64) -> (tensor<?x?x?xf32>, f64) {
  %y = arith.mulf %x, %x : f64
  %img, %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf32>, f64 {
    %v = arith.truncf %x : f64 to f32
    nb.yield %v, %x : f32, f64
  }
  %mean = arith.divf %sum, %y : f64
  return %img, %mean : tensor<?x?x?xf32>, f64
}
