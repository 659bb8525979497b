// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-rocdl))" --verify-diagnostics --split-input-file
// RUN: not nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-rocdl{chip=sm_90}))" --split-input-file 2>&1 | FileCheck %s

// CHECK: error: nb-gpu-to-rocdl: chip is one of AMD's, such as gfx942, but is 'sm_90'

gpu.module @kernels {
  gpu.func @own(%n: i64) kernel {
    // expected-error @below {{no pointer of this kernel leads to a thread's private memory}}
    %memory = llvm.alloca %n x f64 : (i64) -> !llvm.ptr
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @logarithm(%x: f64, %out: !llvm.ptr) kernel {
    // expected-error @below {{'math.log' has no code on GPUs of NVIDIA and AMD}}
    %y = math.log %x : f64
    llvm.store %y, %out : f64, !llvm.ptr
    gpu.return
  }
}

// -----

gpu.module @library {
  gpu.func @sine(%x: f64) kernel {
    // expected-error @below {{'math.sin' is a function of the math library, which a GPU has not; with fastmath<afn> it is computed in steps of the compiler's own}}
    %y = math.sin %x : f64
    gpu.return
  }
}
