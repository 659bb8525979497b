// RUN: not nb-opt %s --nb-set-precision=precision=half 2>&1 | FileCheck %s

// CHECK: Cannot find option named 'half'
func.func @image(%n: index) {
  return
}
