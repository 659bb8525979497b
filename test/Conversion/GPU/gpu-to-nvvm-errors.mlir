// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-nvvm))" --verify-diagnostics --split-input-file

gpu.module @kernels {
  gpu.func @loop(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{failed to legalize operation 'scf.for'}}
    scf.for %i = %c0 to %n step %c1 {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @power(%x: f64, %out: !llvm.ptr) kernel {
    // expected-error @below {{'math.powf' has no code on GPUs of NVIDIA and AMD}}
    %y = math.powf %x, %x : f64
    llvm.store %y, %out : f64, !llvm.ptr
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @single(%x: f32, %out: !llvm.ptr) kernel {
    %fine = math.log2 %x : f32
    // expected-error @below {{'math.sinh' has no code on GPUs of NVIDIA and AMD}}
    %y = math.sinh %fine : f32
    llvm.store %y, %out : f32, !llvm.ptr
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
