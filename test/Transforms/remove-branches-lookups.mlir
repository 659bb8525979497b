// RUN: nb-opt %s --nb-remove-branches | FileCheck %s

// Nearest: one bounds test, the clamped lookup, a select.

// CHECK-LABEL: func.func @nearest
// CHECK-SAME: (%[[F:.*]]: !nb.hkl_grid<f64>, %[[H:.*]]: !nb.vec3<f64>, %[[F0:.*]]: f64)
// CHECK-NEXT: %[[IN:.*]] = nb.in_grid nearest %[[F]][%[[H]]]
// CHECK-NEXT: %[[V:.*]] = nb.structure_factor nearest %[[F]][%[[H]]] :
// CHECK-NEXT: %[[R:.*]] = arith.select %[[IN]], %[[V]], %[[F0]]
// CHECK-NEXT: return %[[R]]
func.func @nearest(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64) -> f64 {
  %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f : f64
}

// A peeled index stays one, in lanes too.

// CHECK-LABEL: func.func @integral_lanes
// CHECK: nb.in_grid nearest integral
// CHECK: nb.structure_factor nearest integral
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xf64>
func.func @integral_lanes(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<vector<8xf64>>,
                          %F0: vector<8xf64>) -> vector<8xf64> {
  %f = nb.structure_factor nearest integral %F[%hkl] default %F0
      : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  return %f : vector<8xf64>
}

// Tricubic: the rule of nearest where a neighbour is missing. An index peeled before is used again.

// CHECK-LABEL: func.func @tricubic
// CHECK-SAME: (%[[F:.*]]: !nb.hkl_grid<f64>, %[[H:.*]]: !nb.vec3<f64>, %[[F0:.*]]: f64)
// CHECK-NEXT: %[[H0:.*]] = nb.nearest_miller_index %[[H]]
// CHECK-NOT: nb.nearest_miller_index
// CHECK: %[[IN_N:.*]] = nb.in_grid nearest integral %[[F]][%[[H0]]]
// CHECK-NEXT: %[[N:.*]] = nb.structure_factor nearest integral %[[F]][%[[H0]]] :
// CHECK-NEXT: %[[FALLBACK:.*]] = arith.select %[[IN_N]], %[[N]], %[[F0]]
// CHECK-NEXT: %[[IN_T:.*]] = nb.in_grid tricubic %[[F]][%[[H]]]
// CHECK-NEXT: %[[T:.*]] = nb.structure_factor tricubic %[[F]][%[[H]]] :
// CHECK-NEXT: %[[R:.*]] = arith.select %[[IN_T]], %[[T]], %[[FALLBACK]]
// CHECK-NEXT: return %[[R]], %{{.*}}
func.func @tricubic(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64)
    -> (f64, !nb.vec3<f64>) {
  %h0 = nb.nearest_miller_index %hkl : !nb.vec3<f64>
  %f = nb.structure_factor tricubic %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f, %h0 : f64, !nb.vec3<f64>
}

// Without one it is computed; a rounding that comes later is of no use.

// CHECK-LABEL: func.func @rounds_itself
// CHECK-NEXT: nb.nearest_miller_index
// CHECK-NEXT: nb.in_grid nearest integral
func.func @rounds_itself(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64)
    -> (f64, !nb.vec3<f64>) {
  %f = nb.structure_factor tricubic %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %h0 = nb.nearest_miller_index %hkl : !nb.vec3<f64>
  return %f, %h0 : f64, !nb.vec3<f64>
}
