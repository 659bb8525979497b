// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-spirv))" --verify-roundtrip | FileCheck %s

// All pointers are to global memory, those that are loaded, too; roots and roundings are OpenCL's.

// CHECK-LABEL: llvm.func spir_kernelcc @roots
// CHECK-SAME: !llvm.ptr<1>
// CHECK-SAME: intel_reqd_sub_group_size = 32 : i32
// CHECK: llvm.call spir_funccc @_Z12get_group_idj
// CHECK: llvm.intr.sqrt
// CHECK: llvm.intr.floor
// CHECK: llvm.intr.roundeven
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> !llvm.ptr<1>
// CHECK: llvm.store %{{.*}}, %{{.*}} : f64, !llvm.ptr<1>
// CHECK-NOT: !llvm.ptr{{$|[,) ]}}
gpu.module @kernels {
  gpu.func @roots(%outputs: !llvm.ptr, %x: f64) kernel {
    %b = gpu.block_id x
    %i = arith.index_cast %b : index to i64
    %r = math.sqrt %x : f64
    %f = math.floor %r : f64
    %e = math.roundeven %f : f64
    %out = llvm.load %outputs : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %e, %place : f64, !llvm.ptr
    gpu.return
  }

  // Threads of a sub-group exchange words.
  // CHECK-LABEL: llvm.func spir_kernelcc @exchange
  // CHECK: llvm.call spir_funccc @_Z21sub_group_shuffle_xorij
  gpu.func @exchange(%out: !llvm.ptr, %x: i32) kernel {
    %mask = arith.constant 16 : i32
    %width = arith.constant 32 : i32
    %y, %valid = gpu.shuffle xor %x, %mask, %width : i32
    llvm.store %y, %out : i32, !llvm.ptr
    gpu.return
  }

  // CHECK-LABEL: llvm.func spir_kernelcc @add
  // CHECK: %[[FIRST:.*]] = llvm.load %[[PLACE:.*]] : !llvm.ptr<1> -> i64
  // CHECK: llvm.br ^[[AGAIN:.*]](%[[FIRST]] : i64)
  // CHECK: ^[[AGAIN]](%[[READ:.*]]: i64):
  // CHECK: %[[OLD:.*]] = llvm.bitcast %[[READ]] : i64 to f64
  // CHECK: %[[SUM:.*]] = llvm.fadd %[[OLD]], %{{.*}} : f64
  // CHECK: %[[BITS:.*]] = llvm.bitcast %[[SUM]] : f64 to i64
  // CHECK: %[[PAIR:.*]] = llvm.cmpxchg %[[PLACE]], %[[READ]], %[[BITS]] monotonic monotonic
  // CHECK: %[[FOUND:.*]] = llvm.extractvalue %[[PAIR]][0]
  // CHECK: %[[WRITTEN:.*]] = llvm.extractvalue %[[PAIR]][1]
  // CHECK: llvm.cond_br %[[WRITTEN]], ^[[END:.*]], ^[[AGAIN]](%[[FOUND]] : i64)
  // CHECK: ^[[END]]:
  // CHECK: llvm.return
  // CHECK-NOT: atomicrmw
  gpu.func @add(%grid: memref<?xf64>, %i: index, %x: f64) kernel {
    %old = memref.atomic_rmw addf %x, %grid[%i] : (f64, memref<?xf64>) -> f64
    gpu.return
  }
}
