// RUN: nb-opt %s --nb-remove-branches | FileCheck %s

// A lookup with a default is a masked load, not a branch: it stays what it is, also where it leaves a
// branch.

// CHECK-LABEL: func.func @lookups
// CHECK-SAME: (%[[C:.*]]: i1, %[[F:.*]]: !nb.hkl_grid<f64>, %[[H:.*]]: !nb.vec3<f64>, %[[F0:.*]]: f64)
// CHECK-NEXT: %[[N:.*]] = nb.structure_factor nearest %[[F]][%[[H]]] default %[[F0]] :
// CHECK-NEXT: %[[T:.*]] = nb.structure_factor tricubic %[[F]][%[[H]]] default %[[F0]] :
// CHECK-NEXT: %[[R:.*]] = arith.select %[[C]], %[[N]], %[[T]]
// CHECK-NEXT: return %[[R]]
func.func @lookups(%c: i1, %F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64) -> f64 {
  %r = scf.if %c -> f64 {
    %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
    scf.yield %f : f64
  } else {
    %f = nb.structure_factor tricubic %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
    scf.yield %f : f64
  }
  return %r : f64
}
