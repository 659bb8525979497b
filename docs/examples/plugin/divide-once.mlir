// RUN: %nb_opt %s --load-pass-plugin=%plugin --pass-pipeline='builtin.module(func.func(nb-divide-once))' | %FileCheck %s
// RUN: %nb_opt %s --load-pass-plugin=%plugin --pass-pipeline='builtin.module(func.func(nb-divide-once))' --remarks-filter='.*' 2>&1 | %FileCheck %s --check-prefix=REMARK

// REMARK: 2 division(s) became multiplications by 1 reciprocal(s)

// One reciprocal ahead of the sum serves both divisions.
// CHECK-LABEL: func.func @image
// CHECK: nb.image
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[R:.*]] = arith.divf %[[ONE]], %width : f64
// CHECK: nb.sum
// CHECK: %a = arith.mulf %x, %[[R]] : f64
// CHECK: %b = arith.mulf %a, %[[R]] : f64
// The division by a value that changes in the sum is left.
// CHECK: %c = arith.divf %b, %x : f64
func.func @image(%width: f64 {nb.name = "wavelength"}, %n: index {nb.name = "fast_pixels"}) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %n : f64 {
      %j = arith.index_cast %i : index to i64
      %x = arith.sitofp %j : i64 to f64
      %a = arith.divf %x, %width : f64
      %b = arith.divf %a, %width : f64
      %c = arith.divf %b, %x : f64
      nb.yield %c : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}
