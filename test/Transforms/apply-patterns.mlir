// RUN: nb-opt %s --patterns=%S/../../docs/examples/patterns/reciprocal.pdll --remarks-filter=".*" 2>&1 | FileCheck %s --check-prefixes=CHECK,REMARK
// RUN: nb-opt %s --pass-pipeline='builtin.module(nb-apply-patterns{files=%S/../../docs/examples/patterns/reciprocal.pdll})' | FileCheck %s
// RUN: not nb-opt %s --patterns=%t.missing.pdll 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: echo 'Pattern {' > %t.broken.pdll
// RUN: not nb-opt %s --patterns=%t.broken.pdll 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: echo 'module {}' > %t.empty.mlir
// RUN: not nb-opt %s --patterns=%t.empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY

// MISSING: patterns cannot be read
// BROKEN: is no PDLL: {{.*}}error: expected
// EMPTY: has no pattern

// REMARK: Remark="patterns applied: -1 arith.divf, +1 arith.mulf"

// CHECK-LABEL: func.func @quotient
// CHECK: %[[P:.*]] = arith.mulf %b, %c : f64
// CHECK: arith.divf %a, %[[P]] : f64
// CHECK-NOT: arith
func.func @quotient(%a: f64, %b: f64, %c: f64) -> f64 {
  %x = arith.divf %a, %b : f64
  %y = arith.divf %x, %c : f64
  return %y : f64
}
