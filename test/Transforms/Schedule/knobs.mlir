// Choices of a schedule: those that are made are taken, in a file or in the option's text; an open
// one is an error that names it.
// RUN: split-file %s %t
// RUN: nb-opt %t/program.mlir --pass-pipeline='builtin.module(nb-apply-patterns{files=%t/four.mlir})' | FileCheck %s --check-prefix=FOUR
// RUN: sed 's/= 4 from/= 16 from/; s/selected_region = 0/selected_region = 1/' %t/four.mlir > %t/other.mlir
// RUN: nb-opt %t/program.mlir --pass-pipeline='builtin.module(nb-apply-patterns{files=%t/other.mlir})' | FileCheck %s --check-prefix=OTHER
// RUN: sh -c 'nb-opt %t/program.mlir --pass-pipeline="builtin.module(nb-apply-patterns{text={$(cat %t/other.mlir)}})"' | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/= 4 from//' %t/four.mlir > %t/open.mlir
// RUN: not nb-opt %t/program.mlir --patterns=%t/open.mlir 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: sed 's/selected_region = 0//' %t/four.mlir > %t/open.mlir
// RUN: not nb-opt %t/program.mlir --patterns=%t/open.mlir 2>&1 | FileCheck %s --check-prefix=REGION
// RUN: not nb-opt %t/program.mlir --pass-pipeline='builtin.module(nb-apply-patterns{text={module {}}})' 2>&1 | FileCheck %s --check-prefix=NONE

// FOUR: lanes(4)
// FOUR: nb.sum source %{{.*}}, mosaic
// OTHER: lanes(16)
// OTHER: nb.sum mosaic %{{.*}}, source
// OPEN: open.mlir:[[#]]:{{.*}}error: the choice "lanes" is open: write the chosen one (`= VALUE from options`, `selected_region = NUMBER`), or let nb-try --tune choose
// REGION: error: the choice "order" is open
// NONE: error: the option 'text' has no pattern and no transform.named_sequence

//--- program.mlir
func.func @image(%a: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %a, slow %s in %a, fast %f in %a : tensor<?x?x?xf64> {
    %I = nb.sum source %k in %a, mosaic %j in %a : f64 {
      %v = nb.lookup %t[%j] : !nb.table<?xf64>
      nb.yield %v : f64
    }
    nb.yield %I : f64
  }
  return %image : tensor<?x?x?xf64>
}
//--- four.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    transform.tune.alternatives<"order"> selected_region = 0 {
    }, {
      %sum = transform.nb.match op "nb.sum" in %program : (!transform.any_op) -> !transform.any_op
      transform.nb.order_dimensions %sum to ["mosaic", "source"] : !transform.any_op
    }
    %functions = transform.nb.match op "func.func" in %program : (!transform.any_op) -> !transform.any_op
    %lanes = transform.tune.knob<"lanes"> = 4 from options = [4, 16] -> !transform.param<i64>
    transform.apply_registered_pass "nb-vectorize" with options = {"width" = %lanes} to %functions
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
