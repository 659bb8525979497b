// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-nvvm))" --verify-roundtrip | FileCheck %s

// No call is made for what a GPU has instructions for, and roots and quotients are made without the
// subroutines that ptxas would put in.

// CHECK-LABEL: llvm.func @roots
// CHECK-SAME: nvvm.kernel
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.d"(%[[X:.*]]) : (f64) -> f64
// CHECK-COUNT-4: llvm.intr.fma
// CHECK: llvm.select %{{.*}}, %{{.*}}, %[[X]]
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

  // CHECK-LABEL: llvm.func @quotients
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.d"
  // CHECK: %[[NORMAL:.*]] = llvm.icmp "ult"
  // CHECK-COUNT-3: llvm.intr.fma
  // CHECK: llvm.select %[[NORMAL]]
  // CHECK: %[[QUOTIENT:.*]] = llvm.fmul
  // CHECK-COUNT-2: llvm.intr.fma
  // CHECK: llvm.select %[[NORMAL]], %{{.*}}, %[[QUOTIENT]]
  // CHECK: llvm.fdiv %{{.*}} {fastmathFlags = #llvm.fastmath<afn>} : f32
  // CHECK: llvm.intr.sqrt(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
  gpu.func @quotients(%out: !llvm.ptr, %x: f64, %y: f64, %a: f32, %b: f32) kernel {
    %q = arith.divf %x, %y : f64
    %r = arith.divf %a, %b : f32
    %s = math.sqrt %r : f32
    llvm.store %q, %out : f64, !llvm.ptr
    llvm.store %s, %out : f32, !llvm.ptr
    gpu.return
  }
}
