// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @tabulated
// CHECK: nb.tabulated_factor %{{.*}}[%{{.*}}, %{{.*}}] nodes %{{.*}} at %{{.*}} : !nb.hkl_grid<f64>, f64
// CHECK-NEXT: nb.tabulated_factor %{{.*}}[%{{.*}}, %{{.*}}] nodes %{{.*}} at %{{.*}} : !nb.hkl_grid<f64>, vector<8xf64>
func.func @tabulated(%F: !nb.hkl_grid<f64>, %s: !nb.hkl_grid<f64>, %i: f64, %l: vector<8xf64>)
    -> (f64, vector<8xf64>) {
  %f = nb.tabulated_factor %F[%i, %i] nodes %s at %i : !nb.hkl_grid<f64>, f64
  %g = nb.tabulated_factor %F[%l, %l] nodes %s at %l : !nb.hkl_grid<f64>, vector<8xf64>
  return %f, %g : f64, vector<8xf64>
}

// CHECK-LABEL: func.func @position
// CHECK: nb.table_position %{{.*}}[%{{.*}}, %{{.*}}] at %{{.*}} : !nb.hkl_grid<f64>, f64
// CHECK-NEXT: nb.table_position %{{.*}}[%{{.*}}, %{{.*}}] at %{{.*}} : !nb.hkl_grid<f64>, vector<8xf64>
func.func @position(%s: !nb.hkl_grid<f64>, %i: f64, %l: vector<8xf64>) -> (f64, vector<8xf64>) {
  %f = nb.table_position %s[%i, %i] at %i : !nb.hkl_grid<f64>, f64
  %g = nb.table_position %s[%l, %l] at %l : !nb.hkl_grid<f64>, vector<8xf64>
  return %f, %g : f64, vector<8xf64>
}
