// RUN: nb-opt %s --nb-insert-probes="ops=nb.lattice_factor,arith.mul*" | FileCheck %s --check-prefixes=CHECK,OPS
// RUN: nb-opt %s --nb-insert-probes="names=F_*" | FileCheck %s --check-prefixes=CHECK,NAMES
// RUN: nb-opt %s --nb-insert-probes="ops=arith.mulf names=F_*" | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: nb-opt %s --nb-insert-probes | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: nb-opt %s --nb-insert-probes="ops=nothing all=true" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: nb-opt %s --nb-insert-probes="names=F_outside outside=true" | FileCheck %s --check-prefixes=CHECK,OUTSIDE

// A probe follows the op that it looks at and has the value's name, or the op's where there is none.

// CHECK-LABEL: func.func @image
func.func @image(%n: index, %hkl: !nb.vec3<f64>, %cells: !nb.vec3<f64>, %w: f64)
    -> tensor<?x?x?xf64> {
  // CHECK-NOT: nb.probe
  // CHECK: nb.image
  // OUTSIDE-NOT: nb.probe
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // ALL-NOT: nb.probe
    %two = arith.constant 2.0 : f64
    %I = nb.sum source %i in %n : f64 {
      // OPS: %[[L:.*]] = nb.lattice_factor
      // OPS-NEXT: nb.probe "F_latt" %[[L]] : f64
      // OPS-NEXT: %[[T:.*]] = arith.mulf
      // OPS-NEXT: nb.probe "arith.mulf" %[[T]]
      // NAMES: %[[L:.*]] = nb.lattice_factor
      // NAMES-NEXT: nb.probe "F_latt" %[[L]]
      // NAMES-NEXT: arith.mulf
      // NAMES-NOT: nb.probe
      // NAMES: %[[F:.*]] = arith.mulf
      // NAMES-NEXT: nb.probe "F_scaled" %[[F]]
      // BOTH-NOT: nb.probe
      // BOTH: nb.probe "F_scaled"
      // ALL: nb.probe "F_latt"
      // ALL: nb.probe "arith.mulf"
      // ALL: nb.probe "F_scaled"
      // ALL: nb.probe "at" {{.*}} : !nb.vec3<f64>
      %L = nb.lattice_factor square %hkl, %cells : !nb.vec3<f64> loc("F_latt")
      %0 = arith.mulf %L, %w : f64
      %F = arith.mulf %0, %two : f64 loc("F_scaled")
      %v = nb.scale %hkl, %F : !nb.vec3<f64> loc("at")
      nb.yield %F : f64
    } loc("I")
    // ALL: nb.probe "I" %{{.*}} : f64
    // ALL-NOT: nb.probe
    nb.yield %I : f64
  }
  // OUTSIDE: nb.probe "F_outside" %{{.*}} : f64
  %outside = arith.mulf %w, %w : f64 loc("F_outside")
  return %img : tensor<?x?x?xf64>
}

// What is probed already gets no second probe.
// CHECK-LABEL: func.func @again
// OPS-COUNT-1: nb.probe
// OPS-NOT: nb.probe
// NAMES-COUNT-1: nb.probe
// NAMES-NOT: nb.probe
// BOTH-COUNT-1: nb.probe
// BOTH-NOT: nb.probe
// ALL-COUNT-1: nb.probe
// ALL-NOT: nb.probe
func.func @again(%n: index, %w: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %t = arith.mulf %w, %w : f64 loc("F_twice")
    nb.probe "mine" %t : f64
    nb.yield %t : f64
  }
  return %img : tensor<?x?x?xf64>
}
