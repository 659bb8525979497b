// A schedule: merges equal values (CSE) and computes 8 pixels at once. It applies where the compiler
// would choose the number of lanes:
//   nb-sim FLAGS --pipeline='builtin.module(nb-cpu-pipeline{until-after=peel},nb-apply-patterns{files=pixel-tiles.mlir})'
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %functions = transform.nb.match op "func.func" in %program : (!transform.any_op) -> !transform.any_op
    %clean = transform.apply_registered_pass "cse" to %functions : (!transform.any_op) -> !transform.any_op
    %image = transform.nb.match op "nb.image" in %clean : (!transform.any_op) -> !transform.any_op
    %tiled = transform.nb.tile_pixels %image by 8 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
