// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-spirv))" --verify-diagnostics

gpu.module @kernels {
  gpu.func @own(%n: i64) kernel {
    // expected-error @below {{no pointer of this kernel leads to a thread's private memory}}
    %memory = llvm.alloca %n x f64 : (i64) -> !llvm.ptr
    gpu.return
  }
}
