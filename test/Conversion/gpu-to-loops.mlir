// RUN: nb-opt %s --nb-gpu-to-loops --verify-roundtrip | FileCheck %s

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
