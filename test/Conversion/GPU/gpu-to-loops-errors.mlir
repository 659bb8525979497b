// RUN: nb-opt %s --nb-gpu-to-loops --split-input-file --verify-diagnostics

func.func @barrier(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    // expected-error @below {{needs the threads of a GPU}}
    gpu.barrier
    gpu.terminator
  }
  return
}

// -----

func.func @shared(%n: index) {
  // expected-error @below {{a launch with memory of blocks or threads cannot be run on the CPU}}
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n)
             workgroup(%w : memref<32xf64, #gpu.address_space<workgroup>>) {
    gpu.terminator
  }
  return
}

// -----

func.func @asynchronous(%n: index) {
  // expected-error @below {{an asynchronous launch cannot be run on the CPU}}
  %token = gpu.launch async blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    gpu.terminator
  }
  return
}

// -----

func.func @clusters(%n: index) {
  // expected-error @below {{a launch of clusters cannot be run on the CPU}}
  gpu.launch clusters(%cx, %cy, %cz) in (%kx = %n, %ky = %n, %kz = %n)
             blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    gpu.terminator
  }
  return
}

// -----

func.func @branches(%n: index, %c: i1) {
  // expected-error @below {{the body of the launch has branches; it must use scf}}
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    cf.cond_br %c, ^end, ^end
  ^end:
    gpu.terminator
  }
  return
}

// -----

// expected-error @below {{sums over pixels want memory for each warp, and how many there are is not constant}}
func.func @total_run_tile(%out: memref<?xf64>, %n: index, %x: f64) {
  gpu.launch blocks(%bx, %by, %bz) in (%nx = %n, %ny = %n, %nz = %n)
             threads(%tx, %ty, %tz) in (%mx = %n, %my = %n, %mz = %n) {
    memref.atomic_rmw addf %x, %out[%bx] : (f64, memref<?xf64>) -> f64
    gpu.terminator
  }
  return
}
func.func @total_accumulator_size(%arguments: !llvm.ptr) -> i64 {
  %c64 = arith.constant 64 : i64
  return %c64 : i64
}
