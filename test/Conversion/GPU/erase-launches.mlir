// RUN: nb-opt %s --nb-erase-launches | FileCheck %s

// Functions that launch nothing stay.

// CHECK-NOT: func.func @image_run_tile
// CHECK: func.func @image_prepare
// CHECK-NOT: gpu.launch
func.func @image_run_tile(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}

func.func @image_prepare(%a: !llvm.ptr, %w: !llvm.ptr) {
  return
}
