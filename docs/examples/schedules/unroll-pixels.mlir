// A schedule: computes two groups of pixels at a time, by ops of MLIR. It applies after loops are made:
//   nb-try FLAGS --pipeline='builtin.module(nb-cpu-pipeline{until-after=arith},nb-apply-patterns{files=unroll-pixels.mlir})'
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %loops = transform.structured.match ops{["scf.for"]} attributes {nb.loop = #nb.dim<fast>} in %program : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %loops {factor = 2} : !transform.any_op
    transform.yield
  }
}
