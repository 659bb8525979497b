// RUN: nb-opt %s --nb-hoist-invariants | FileCheck %s

// An op leaves a branch on its way out of a loop, and stays in it where that would save nothing.

// CHECK-LABEL: func.func @branch
// CHECK: %[[OUT:.*]] = nb.normalize
// CHECK-NEXT: nb.sum mosaic
// CHECK-NEXT: %[[AXIS:.*]] = nb.lookup
// CHECK-NEXT: %[[KEEP:.*]] = nb.within_resolution %[[AXIS]]
// CHECK-NEXT: scf.if %[[KEEP]]
// CHECK-NEXT: nb.dot %[[AXIS]], %[[OUT]]
func.func @branch(%n: index, %axes: !nb.table<?x!nb.vec3<f64>>, %v: !nb.vec3<f64>, %dmin: f64,
                  %zero: f64) -> f64 {
  %I = nb.sum mosaic %j in %n : f64 {
    %axis = nb.lookup %axes[%j] : !nb.table<?x!nb.vec3<f64>>
    %keep = nb.within_resolution %axis, %dmin : !nb.vec3<f64>, i1
    %i = scf.if %keep -> f64 {
      %unit = nb.normalize %v : !nb.vec3<f64>
      %d = nb.dot %axis, %unit : !nb.vec3<f64>
      scf.yield %d : f64
    } else {
      scf.yield %zero : f64
    }
    nb.yield %i : f64
  }
  return %I : f64
}

// What has an effect or may be undefined stays.

// CHECK-LABEL: func.func @stays
// CHECK: nb.sum
// CHECK: memref.load
// CHECK-NEXT: nb.probe
// CHECK-NEXT: arith.divsi
func.func @stays(%n: index, %m: memref<f64>, %a: i64, %b: i64) -> f64 {
  %I = nb.sum mosaic %j in %n : f64 {
    %x = memref.load %m[] : memref<f64>
    nb.probe "x" %x : f64
    %q = arith.divsi %a, %b : i64
    %y = arith.sitofp %q : i64 to f64
    %z = arith.addf %x, %y : f64
    nb.yield %z : f64
  }
  return %I : f64
}
