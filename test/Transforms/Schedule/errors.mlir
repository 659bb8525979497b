// What a schedule asks for and cannot be is an error where it says so.
// RUN: split-file %s %t
// RUN: not nb-opt %t/program.mlir --patterns=%t/order.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not nb-opt %t/program.mlir --patterns=%t/split.mlir 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not nb-opt %t/program.mlir --patterns=%t/name.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not nb-opt %t/program.mlir --patterns=%t/table.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not nb-opt %t/program.mlir --patterns=%t/peel.mlir 2>&1 | FileCheck %s --check-prefix=PEEL
// RUN: not nb-opt %t/program.mlir --patterns=%t/lanes.mlir 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not nb-opt %t/program.mlir --patterns=%t/kind.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not nb-opt %t/program.mlir --patterns=%t/program.mlir 2>&1 | FileCheck %s --check-prefix=NONE

//--- program.mlir
func.func @image(%a: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %a, slow %s in %a, fast %f in %a : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %x = arith.sitofp %i : i64 to f64
    %I = nb.sum source %k in %a, mosaic %j in %a : f64 {
      %v = nb.lookup %t[%j] : !nb.table<?xf64>
      nb.yield %v : f64
    }
    nb.yield %I : f64
  }
  return %image : tensor<?x?x?xf64>
}

//--- order.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %I = transform.nb.match value "I" in %program : (!transform.any_op) -> !transform.any_op
    // ORDER: order.mlir:5:5: error: the order has to name each dimension of the sum once: source, mosaic
    transform.nb.order_dimensions %I to ["mosaic", "phi"] : !transform.any_op
    transform.yield
  }
}
//--- split.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %I = transform.nb.match value "I" in %program : (!transform.any_op) -> !transform.any_op
    // SPLIT: split.mlir:5:{{.*}}error: a sum over 2 dimension(s) cannot be split after 2
    %outer, %inner = transform.nb.split_sum %I after 2 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
//--- name.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    // NAME: name.mlir:4:{{.*}}error: the program has no op 'nb.sum' that makes %hkl
    %I = transform.nb.match op "nb.sum" value "hkl" in %program : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
//--- table.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %x = transform.nb.match value "x" in %program : (!transform.any_op) -> !transform.any_op
    // TABLE: table.mlir:5:{{.*}}error: 'arith.sitofp' depends on the pixel or on no sum, or is not pure
    %t = transform.nb.tabulate %x : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
//--- peel.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %x = transform.nb.match value "x" in %program : (!transform.any_op) -> !transform.any_op
    // PEEL: peel.mlir:5:{{.*}}error: no lattice factor takes what 'arith.sitofp' computes as its Miller index, and not its fraction
    transform.nb.peel %x : !transform.any_op
    transform.yield
  }
}
//--- lanes.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %image = transform.nb.match op "nb.image" in %program : (!transform.any_op) -> !transform.any_op
    // LANES: lanes.mlir:5:{{.*}}error: tiles have between 1 and 64 pixels, not 100
    %tiled = transform.nb.tile_pixels %image by 100 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
//--- kind.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %image = transform.nb.match op "nb.image" in %program : (!transform.any_op) -> !transform.any_op
    // KIND: kind.mlir:5:{{.*}}error: {{.*}}
    transform.nb.recompute %image : !transform.any_op
    transform.yield
  }
}
// NONE: has no pattern and no transform.named_sequence
