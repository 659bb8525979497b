// A schedule: the loop over mosaic domains is outside of that over phi steps; the rotation of a domain comes
// from a table; lattice factors take the fraction of the Miller index. It applies to the frontend's program:
//   nb-sim FLAGS --patterns=domains-outside.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %sum = transform.nb.match op "nb.sum" value "I" in %program : (!transform.any_op) -> !transform.any_op
    transform.nb.order_dimensions %sum to ["subslow", "subfast", "source", "mosaic", "phi"] : !transform.any_op

    %rotation = transform.nb.match value "mosaic_rotation" in %program : (!transform.any_op) -> !transform.any_op
    %table = transform.nb.tabulate %rotation : (!transform.any_op) -> !transform.any_op

    %hkl = transform.nb.match value "hkl" in %program : (!transform.any_op) -> !transform.any_op
    transform.nb.peel %hkl : !transform.any_op
    transform.yield
  }
}
