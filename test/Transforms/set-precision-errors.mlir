// RUN: not nb-opt %s --nb-set-precision=precision=half 2>&1 | FileCheck %s

// CHECK: nb-set-precision: precision must be f64, mixed or f32, but got 'half'
func.func @image(%n: index) {
  return
}
