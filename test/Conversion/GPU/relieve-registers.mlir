// RUN: nb-opt %s --nb-relieve-registers --canonicalize --verify-roundtrip --split-input-file | FileCheck %s

// What the loops load is loaded where they need it: the outermost takes it from another address in
// each turn, which is the same; innermost loops have it ahead. All count in 32 bits.

// CHECK-LABEL: func.func @nest
// CHECK-SAME: %[[POINTER:[^:]*]]: !llvm.ptr
// CHECK: gpu.launch
// CHECK-NOT: llvm.load
// CHECK: scf.for %[[CHUNK:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: %[[WIDE:.*]] = arith.index_castui %[[CHUNK]]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[WIDE]]
// CHECK: %[[SIGN:.*]] = arith.shrui %[[NUMBER]],
// CHECK: %[[ZERO:.*]] = arith.extui %[[SIGN]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[POINTER]][%[[ZERO]]]
// CHECK: %[[X:.*]] = llvm.load %[[PLACE]]
// CHECK: llvm.store %[[X]]
// CHECK: scf.for %{{.*}} : i32 {
// CHECK: %[[Y:.*]] = llvm.load %[[POINTER]]
// CHECK: scf.for %{{.*}} : i32 {
// CHECK-NOT: llvm.load
// CHECK: llvm.store %[[Y]]
func.func @nest(%pointer: !llvm.ptr, %out: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    %x = llvm.load %pointer : !llvm.ptr -> f64
    scf.for %i = %bx to %n step %nx {
      llvm.store %x, %out : f64, !llvm.ptr
      scf.for %j = %c0 to %n step %c1 {
        scf.for %k = %c0 to %n step %c1 {
          llvm.store %x, %out : f64, !llvm.ptr
        }
      }
    }
    gpu.terminator
  }
  return
}

// -----

// A single loop is left alone: it has its registers to itself.

// CHECK-LABEL: func.func @single
// CHECK: %[[X:.*]] = llvm.load
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[a-z0-9_]*}} {
// CHECK-NEXT: llvm.store %[[X]]
func.func @single(%pointer: !llvm.ptr, %n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    %x = llvm.load %pointer : !llvm.ptr -> f64
    scf.for %i = %bx to %n step %nx {
      llvm.store %x, %pointer : f64, !llvm.ptr
    }
    gpu.terminator
  }
  return
}
