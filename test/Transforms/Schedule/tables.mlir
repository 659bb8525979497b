// What is kept in a table, and what is computed where it is needed.
// RUN: nb-opt %s --transform-interpreter --canonicalize --split-input-file | FileCheck %s

// A product is too cheap for nb-tabulate-invariants.
// CHECK-LABEL: @tabulate
// CHECK: %[[T:.*]] = nb.tabulate mosaic %[[J:.*]] in %n : !nb.table<?xf64> {
// CHECK:   arith.mulf
// CHECK: nb.image
// CHECK: nb.sum
// CHECK-NOT: arith.mulf
// CHECK: nb.lookup %[[T]]
func.func @tabulate(%angle: !nb.table<?xf64>, %spread: f64, %n: index) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum mosaic %j in %n : f64 {
      %unit = nb.lookup inbounds %angle[%j] : !nb.table<?xf64>
      %turn = arith.mulf %unit, %spread : f64
      nb.yield %turn : f64
    }
    nb.yield %I : f64
  }
  return %image : tensor<?x?x?xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %turn = transform.nb.match value "turn" in %program : (!transform.any_op) -> !transform.any_op
    %table = transform.nb.tabulate %turn : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: @recompute
// CHECK-NOT: nb.tabulate
// CHECK: nb.sum mosaic %[[J:.*]] in %n
// CHECK:   %[[U:.*]] = nb.lookup inbounds %angle[%[[J]]]
// CHECK:   arith.mulf %[[U]], %spread
func.func @recompute(%angle: !nb.table<?xf64>, %spread: f64, %n: index) -> f64 {
  %table = nb.tabulate mosaic %k in %n : !nb.table<?xf64> {
    %unit = nb.lookup inbounds %angle[%k] : !nb.table<?xf64>
    %turn = arith.mulf %unit, %spread : f64
    nb.yield %turn : f64
  }
  %I = nb.sum mosaic %j in %n : f64 {
    %turn = nb.lookup %table[%j] : !nb.table<?xf64>
    nb.yield %turn : f64
  }
  return %I : f64
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %table = transform.nb.match op "nb.tabulate" in %program : (!transform.any_op) -> !transform.any_op
    transform.nb.recompute %table : !transform.any_op
    transform.yield
  }
}
