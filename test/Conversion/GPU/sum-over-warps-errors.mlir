// RUN: nb-opt %s --nb-sum-over-warps --split-input-file --verify-diagnostics

func.func @largest(%out: memref<?xf64>, %n: index, %x: f64) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    // expected-error @below {{only additions to memory of one dimension whose old value is never read can be summed over a warp}}
    memref.atomic_rmw maximumf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}

// -----

func.func @plane(%out: memref<?x?xf64>, %n: index, %x: f64) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    // expected-error @below {{only additions to memory of one dimension}}
    memref.atomic_rmw addf %x, %out[%bx, %by] : (f64, memref<?x?xf64>) -> f64
    gpu.terminator
  }
  return
}
