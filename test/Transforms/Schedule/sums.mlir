// Which loop is inside of which.
// RUN: nb-opt %s --transform-interpreter --split-input-file | FileCheck %s

// CHECK-LABEL: @order
// CHECK: nb.sum mosaic %[[M:.*]] in %b, source %[[S:.*]] in %a : f64 {
// CHECK: nb.lookup %t[%[[S]], %[[M]]]
func.func @order(%t: !nb.table<?x?xf64>, %a: index, %b: index) -> f64 {
  %I = nb.sum source %i in %a, mosaic %j in %b : f64 {
    %v = nb.lookup %t[%i, %j] : !nb.table<?x?xf64>
    nb.yield %v : f64
  }
  return %I : f64
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %sum = transform.nb.match op "nb.sum" in %program : (!transform.any_op) -> !transform.any_op
    transform.nb.order_dimensions %sum to ["mosaic", "source"] : !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: @split
// CHECK: nb.sum source %[[S:.*]] in %a : f64 {
// CHECK:   nb.sum phi %[[P:.*]] in %a, mosaic %[[M:.*]] in %b : f64 {
// CHECK:     nb.lookup %t[%[[S]], %[[M]]]
func.func @split(%t: !nb.table<?x?xf64>, %a: index, %b: index) -> f64 {
  %I = nb.sum source %i in %a, phi %k in %a, mosaic %j in %b : f64 {
    %v = nb.lookup %t[%i, %j] : !nb.table<?x?xf64>
    nb.yield %v : f64
  }
  return %I : f64
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %sum = transform.nb.match value "I" in %program : (!transform.any_op) -> !transform.any_op
    %outer, %inner = transform.nb.split_sum %sum after 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
