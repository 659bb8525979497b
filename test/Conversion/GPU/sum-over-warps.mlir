// RUN: nb-opt %s --nb-sum-over-warps --verify-roundtrip --split-input-file | FileCheck %s

// One number: five exchanges, each of two words, among all; the first thread adds.

// CHECK-LABEL: func.func @number
// CHECK: %[[LANE:.*]] = arith.andi
// CHECK-COUNT-10: gpu.shuffle xor %{{.*}} : i32
// CHECK-NOT: gpu.shuffle
// CHECK: %[[OWNER:.*]] = arith.constant 1 : i32
// CHECK: %[[BITS:.*]] = arith.shrui %[[OWNER]], %[[LANE]] : i32
// CHECK: %[[OWNS:.*]] = arith.trunci %[[BITS]] : i32 to i1
// CHECK: scf.if %[[OWNS]] {
// CHECK: %[[OLD:.*]] = memref.load %[[OUT:.*]][%[[AT:.*]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]],
// CHECK: memref.store %[[SUM]], %[[OUT]][%[[AT]]]
// CHECK-NOT: memref.atomic_rmw
func.func @number(%out: memref<?xf64>, %n: index, %x: f64) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}

// -----

// Three numbers at neighbouring places, in any order, one of them twice: 2 + 1 + 1 + 1 + 1
// exchanges and one store, by the threads 0, 8 (the second) and 16 (the third).

// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[X:[^:]*]]: f64, %[[Y:[^:]*]]: f64
// CHECK: %[[TWICE:.*]] = arith.addf %[[Y]], %[[X]] : f64
// CHECK-COUNT-12: gpu.shuffle xor %{{.*}} : i32
// CHECK-NOT: gpu.shuffle
// CHECK: arith.constant 65793 : i32
// CHECK: memref.store
// CHECK-NOT: memref.store
func.func @three(%x: f64, %y: f64, %out: memref<?xf64>, %n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    %second = arith.addi %bx, %c1 : index
    %third = arith.addi %bx, %c2 : index
    memref.atomic_rmw addf %y, %out[%second] : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %x, %out[%second] : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %x, %out[%third] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}

// -----

// Places that are no neighbours are summed together and stored apart.

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-10: gpu.shuffle xor %{{.*}} : i32
// CHECK-NOT: gpu.shuffle
// CHECK: memref.store %{{.*}}, %out[
// CHECK: memref.store %{{.*}}, %out2[
func.func @apart(%out: memref<?xf64>, %out2: memref<?xf64>, %n: index, %x: f64) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %x, %out2[%bx] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}

// -----

// What is scattered stays an addition of each thread, beside what is summed.

// CHECK-LABEL: func.func @scattered
// CHECK: memref.atomic_rmw addf %{{.*}}, %{{.*}}[%{{.*}}] {nb.scattered}
// CHECK-COUNT-10: gpu.shuffle xor %{{.*}} : i32
// CHECK-NOT: memref.atomic_rmw
func.func @scattered(%out: memref<?xf64>, %n: index, %x: f64) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    memref.atomic_rmw addf %x, %out[%tx] {nb.scattered} : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}

// -----

// In a warp of 64 threads the third number is in thread 32, the second in thread 16.

// CHECK-LABEL: func.func @wide
// CHECK: arith.constant 4295032833 : i64
// CHECK: memref.store
func.func @wide(%x: f64, %y: f64, %z: f64, %out: memref<?xf64>, %n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    %second = arith.addi %bx, %c1 : index
    %third = arith.addi %bx, %c2 : index
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %y, %out[%second] : (f64, memref<?xf64>) -> f64
    memref.atomic_rmw addf %z, %out[%third] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  } {nb.warp = 64 : i64}
  return
}
