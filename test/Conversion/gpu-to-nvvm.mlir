// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-nvvm))" --verify-roundtrip | FileCheck %s

// No call is made for what a GPU has instructions for.

// CHECK-LABEL: llvm.func @roots
// CHECK-SAME: nvvm.kernel
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.intr.sqrt(%{{.*}})
// CHECK: llvm.intr.floor(%{{.*}})
// CHECK: llvm.intr.roundeven(%{{.*}})
// CHECK: llvm.intr.fabs(%{{.*}})
// CHECK: llvm.store
// CHECK-NOT: llvm.call
gpu.module @kernels {
  gpu.func @roots(%out: !llvm.ptr, %x: f64) kernel {
    %b = gpu.block_id x
    %i = arith.index_cast %b : index to i64
    %r = math.sqrt %x : f64
    %f = math.floor %r : f64
    %e = math.roundeven %f : f64
    %a = math.absf %e : f64
    %place = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %a, %place : f64, !llvm.ptr
    gpu.return
  }
}
