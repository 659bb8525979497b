// RUN: nb-opt %s --nb-gpu-to-loops --verify-roundtrip --split-input-file | FileCheck %s

// Blocks outside, threads inside, x fastest in both.

// CHECK-LABEL: func.func @fill
// CHECK-SAME: %[[OUT:.*]]: memref<?xindex>, %[[GX:.*]]: index, %[[GY:.*]]: index, %[[GZ:.*]]: index
// CHECK: %[[BX:.*]] = arith.constant 128 : index
// CHECK: %[[BY:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[Z:.*]] = %{{.*}} to %[[GZ]] step
// CHECK: scf.for %[[Y:.*]] = %{{.*}} to %[[GY]] step
// CHECK: scf.for %[[X:.*]] = %{{.*}} to %[[GX]] step
// CHECK: scf.for %[[TZ:.*]] = %{{.*}} to %[[GZ]] step
// CHECK: scf.for %[[TY:.*]] = %{{.*}} to %[[BY]] step
// CHECK: scf.for %[[TX:.*]] = %{{.*}} to %[[BX]] step
// CHECK: %[[START:.*]] = arith.muli %[[X]], %[[BX]] : index
// CHECK: %[[I:.*]] = arith.addi %[[START]], %[[TX]] : index
// CHECK: %[[J:.*]] = arith.addi %[[I]], %[[GY]] : index
// CHECK: memref.store %[[Z]], %[[OUT]][%[[J]]]
// CHECK-NOT: gpu.
func.func @fill(%out: memref<?xindex>, %gx: index, %gy: index, %gz: index) {
  %c128 = arith.constant 128 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %gx, %ny = %gy, %nz = %gz)
             threads(%tx, %ty, %tz) in (%mx = %c128, %my = %c2, %mz = %gz) {
    %start = arith.muli %bx, %mx : index
    %i = arith.addi %start, %tx : index
    %j = arith.addi %i, %ny : index
    memref.store %bz, %out[%j] : memref<?xindex>
    gpu.terminator
  }
  return
}

// -----

// Threads come one after another and add as they come; their warps' accumulators need room, two
// blocks of four.

// CHECK-LABEL: func.func @total_run_tile
// CHECK: scf.for
// CHECK: %[[OLD:.*]] = memref.load %[[OUT:.*]][%[[AT:.*]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]],
// CHECK: memref.store %[[SUM]], %[[OUT]][%[[AT]]]
func.func @total_run_tile(%out: memref<?xf64>, %x: f64) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %c2, %ny = %c1, %nz = %c1)
             threads(%tx, %ty, %tz) in (%mx = %c128, %my = %c1, %mz = %c1) {
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}
// CHECK-LABEL: func.func @total_accumulator_size
// CHECK: %[[ONE:.*]] = arith.constant 64 : i64
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i64
// CHECK: %[[ALL:.*]] = arith.muli %[[ONE]], %[[EIGHT]] : i64
// CHECK: return %[[ALL]]
func.func @total_accumulator_size(%arguments: !llvm.ptr) -> i64 {
  %c64 = arith.constant 64 : i64
  return %c64 : i64
}
