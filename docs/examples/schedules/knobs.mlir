// A schedule with choices, for a program before its pixels are put in lanes: how many pixels are
// computed at once, and whether equal values are merged ahead of that. nb-try finds the fastest:
//   nb-try FLAGS --tune --pipeline='builtin.module(nb-cpu-pipeline{until-after=peel},nb-apply-patterns{files=knobs.mlir})'
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.nb.match op "func.func" in %program : (!transform.any_op) -> !transform.any_op
    %clean = transform.tune.alternatives<"merged"> selected_region = 0 -> !transform.any_op {
      transform.yield %functions : !transform.any_op
    }, {
      %merged = transform.apply_registered_pass "cse" to %functions : (!transform.any_op) -> !transform.any_op
      transform.yield %merged : !transform.any_op
    }
    %lanes = transform.tune.knob<"lanes"> = 8 from options = [4, 8, 16, 32] -> !transform.param<i64>
    transform.apply_registered_pass "nb-vectorize" with options = {"width" = %lanes} to %clean
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
