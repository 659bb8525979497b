// RUN: nb-opt %s --pass-pipeline="builtin.module(gpu.module(nb-gpu-to-nvvm))" --verify-diagnostics

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
