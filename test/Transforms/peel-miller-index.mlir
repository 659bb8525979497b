// RUN: nb-opt %s --nb-peel-miller-index | FileCheck %s

// Two lattice factors, a lookup and a bounds check of one index share one peel.

// CHECK-LABEL: func.func @shared
// CHECK-SAME: (%[[D:.*]]: !nb.mat3<f64>, %[[Q:.*]]: !nb.vec3<f64>, %[[N:.*]]: !nb.vec3<f64>,
// CHECK-SAME: %[[FUDGE:.*]]: f64, %[[F:.*]]: !nb.hkl_grid<f64>, %[[F0:.*]]: f64)
// CHECK-NEXT: %[[HKL:.*]] = nb.miller_index %[[D]], %[[Q]]
// CHECK-NEXT: %[[NEAREST:.*]] = nb.nearest_miller_index %[[HKL]]
// CHECK-NEXT: %[[DELTA:.*]] = nb.sub %[[HKL]], %[[NEAREST]]
// CHECK-NEXT: nb.lattice_factor square fraction %[[DELTA]], %[[N]] :
// CHECK-NEXT: nb.lattice_factor gauss fraction %[[DELTA]], %[[N]] fudge %[[FUDGE]] :
// CHECK-NEXT: nb.structure_factor nearest integral %[[F]][%[[NEAREST]]] default %[[F0]]
// CHECK-NEXT: nb.in_grid nearest integral %[[F]][%[[NEAREST]]]
func.func @shared(%D: !nb.mat3<f64>, %q: !nb.vec3<f64>, %n: !nb.vec3<f64>, %fudge: f64,
                  %F: !nb.hkl_grid<f64>, %F0: f64) -> (f64, f64, f64, i1) {
  %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<f64>
  %M = nb.lattice_factor gauss %hkl, %n fudge %fudge : !nb.vec3<f64>
  %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %in = nb.in_grid nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %L, %M, %f, %in : f64, f64, f64, i1
}

// Interpolation takes the fractional index, also beside a peeled lattice factor.

// CHECK-LABEL: func.func @tricubic
// CHECK-SAME: (%[[HKL:.*]]: !nb.vec3<f64>, %[[N:.*]]: !nb.vec3<f64>
// CHECK: nb.structure_factor tricubic %{{.*}}[%[[HKL]]]
// CHECK: nb.lattice_factor square fraction
func.func @tricubic(%hkl: !nb.vec3<f64>, %n: !nb.vec3<f64>, %F: !nb.hkl_grid<f64>) -> (f64, f64) {
  %f = nb.structure_factor tricubic %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<f64>
  return %f, %L : f64, f64
}

// A factor in f32 of an index in f64 takes the whole index, and the lookup beside it, too.

// CHECK-LABEL: func.func @single
// CHECK-SAME: (%[[HKL:.*]]: !nb.vec3<f64>, %[[N:.*]]: !nb.vec3<f64>, %[[F:.*]]: !nb.hkl_grid<f64>)
// CHECK-NEXT: nb.lattice_factor square %[[HKL]], %[[N]] : !nb.vec3<f64> -> f32
// CHECK-NEXT: nb.structure_factor nearest %[[F]][%[[HKL]]]
func.func @single(%hkl: !nb.vec3<f64>, %n: !nb.vec3<f64>, %F: !nb.hkl_grid<f64>) -> (f32, f32) {
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<f64> -> f32
  %f = nb.structure_factor nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64> -> f32
  return %L, %f : f32, f32
}

// Peeled before: nothing to do.

// CHECK-LABEL: func.func @peeled
// CHECK-NEXT: nb.lattice_factor
// CHECK-NEXT: return
func.func @peeled(%delta: !nb.vec3<f64>, %n: !nb.vec3<f64>) -> f64 {
  %L = nb.lattice_factor square fraction %delta, %n : !nb.vec3<f64>
  return %L : f64
}
