// RUN: nb-opt %s --convert-nb-to-arith --nb-outline-kernel | FileCheck %s
// RUN: nb-opt %s --nb-cpu-pipeline | FileCheck %s --check-prefix=LLVM

// A function without an image keeps its name; its arguments are taken apart.

// CHECK-LABEL: func.func @height
// CHECK-SAME: (%{{.*}}: f64, %[[X:.*]]: f64, %[[Y:.*]]: f64, %[[Z:.*]]: f64) -> f64
// CHECK: arith.mulf %[[Z]], %{{.*}}
// CHECK-NOT: unrealized_conversion_cast

// LLVM-LABEL: llvm.func @height(%{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64) -> f64
func.func @height(%s: f64, %v: !nb.vec3<f64>) -> f64 {
  %w = nb.scale %v, %s : !nb.vec3<f64>
  %z = nb.component %w[2] : !nb.vec3<f64>
  return %z : f64
}
