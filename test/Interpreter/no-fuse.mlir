// The program as the interpreter runs it: simplified where it stands, probes and all.
// RUN: nb-opt --no-fuse %s | FileCheck %s
// RUN: nb-opt --nb-interpreter-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @image
func.func @image(%n: index, %t: !nb.table<?xf64>, %spread: f64, %axis: !nb.vec3<f64>) -> f64 {
  // CHECK: nb.sum source %[[I:.*]] in
  %s = nb.sum source %i in %n : f64 {
    // Stays in the loop, although it does not depend on it; the second one is the same.
    // CHECK: %[[R:.*]] = nb.axis_rotation
    // CHECK-NOT: nb.axis_rotation
    %r = nb.axis_rotation %axis, %spread : !nb.vec3<f64>
    %q = nb.axis_rotation %axis, %spread : !nb.vec3<f64>
    %a = nb.element %r[0, 0] : !nb.mat3<f64>
    %b = nb.element %q[0, 1] : !nb.mat3<f64>
    %w = nb.lookup %t[%i] : !nb.table<?xf64>
    // CHECK: nb.probe "weight"
    nb.probe "weight" %w : f64
    %x = arith.mulf %a, %b : f64
    %y = arith.mulf %x, %w : f64
    nb.yield %y : f64
  }
  return %s : f64
}
