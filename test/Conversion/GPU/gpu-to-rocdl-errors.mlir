// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-rocdl))" --verify-diagnostics
// RUN: not nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-rocdl{chip=sm_90}))" 2>&1 | FileCheck %s

// CHECK: error: nb-gpu-to-rocdl: chip is one of AMD's, such as gfx942, but is 'sm_90'

gpu.module @kernels {
  gpu.func @own(%n: i64) kernel {
    // expected-error @below {{a thread's own memory is none that a pointer of this kernel leads to}}
    %memory = llvm.alloca %n x f64 : (i64) -> !llvm.ptr
    gpu.return
  }
}
