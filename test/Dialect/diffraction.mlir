// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @crystal
// CHECK: nb.cell_volume %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: nb.reciprocal_cell right %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: nb.reciprocal_cell c %{{.*}} : f64
// CHECK-NEXT: nb.direct_cell %{{.*}} : !nb.mat3<f64>
// CHECK-NEXT: nb.direct_cell %{{.*}} lengths(%{{.*}}, %{{.*}}, %{{.*}}) : !nb.mat3<f64>
func.func @crystal(%a: f64, %al: f64) -> (f64, !nb.mat3<f64>, !nb.mat3<f64>) {
  %V = nb.cell_volume %a, %a, %a, %al, %al, %al : f64
  %A = nb.reciprocal_cell right %a, %a, %a, %al, %al, %al : f64
  %B = nb.reciprocal_cell c %a, %a, %a, %al, %al, %al : f64
  %D = nb.direct_cell %A : !nb.mat3<f64>
  %E = nb.direct_cell %B lengths(%a, %a, %a) : !nb.mat3<f64>
  return %V, %D, %E : f64, !nb.mat3<f64>, !nb.mat3<f64>
}

// CHECK-LABEL: func.func @scattering
// CHECK: nb.scattering_vector %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.within_resolution %{{.*}}, %{{.*}} : !nb.vec3<f64>, i1
// CHECK-NEXT: nb.miller_index %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.nearest_miller_index %{{.*}} : !nb.vec3<f64>
func.func @scattering(%d: !nb.vec3<f64>, %k: !nb.vec3<f64>, %lambda: f64, %dmin: f64,
                      %D: !nb.mat3<f64>) -> (i1, !nb.vec3<f64>) {
  %q = nb.scattering_vector %d, %k, %lambda : !nb.vec3<f64>
  %keep = nb.within_resolution %q, %dmin : !nb.vec3<f64>, i1
  %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
  %h0 = nb.nearest_miller_index %hkl : !nb.vec3<f64>
  return %keep, %h0 : i1, !nb.vec3<f64>
}

// CHECK-LABEL: func.func @shapes
// CHECK: nb.sincg %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: nb.lattice_factor square %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.lattice_factor square fraction %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.lattice_factor square %{{.*}}, %{{.*}} : !nb.vec3<f64> -> f32
// CHECK-NEXT: nb.lattice_factor round %{{.*}}, %{{.*}} fudge %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.lattice_factor gauss %{{.*}}, %{{.*}} fudge %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.lattice_factor tophat fraction %{{.*}}, %{{.*}} fudge %{{.*}} reciprocal %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.lattice_factor gauss_matrix %{{.*}}, %{{.*}} cross %{{.*}} fudge %{{.*}} : !nb.vec3<f64>
func.func @shapes(%hkl: !nb.vec3<f64>, %ncells: !nb.vec3<f64>, %x: f64, %A: !nb.mat3<f64>)
    -> (f64, f64, f64, f64, f64, f64, f64) {
  %s = nb.sincg %x, %x : f64
  %L = nb.lattice_factor square %hkl, %ncells : !nb.vec3<f64>
  %K = nb.lattice_factor square fraction %hkl, %ncells : !nb.vec3<f64>
  %S = nb.lattice_factor square %hkl, %ncells : !nb.vec3<f64> -> f32
  %R = nb.lattice_factor round %hkl, %ncells fudge %x : !nb.vec3<f64>
  %M = nb.lattice_factor gauss %hkl, %ncells fudge %x : !nb.vec3<f64>
  %T = nb.lattice_factor tophat fraction %hkl, %ncells fudge %x reciprocal %A : !nb.vec3<f64>
  %G = nb.lattice_factor gauss_matrix %hkl, %ncells cross %hkl fudge %x : !nb.vec3<f64>
  return %s, %L, %K, %R, %M, %T, %G : f64, f64, f64, f64, f64, f64, f64
}

// CHECK-LABEL: func.func @structure_factors
// CHECK: nb.in_grid nearest %{{.*}}[%{{.*}}] : !nb.hkl_grid<f64>, !nb.vec3<f64>
// CHECK-NEXT: nb.in_grid tricubic %{{.*}}[%{{.*}}] : !nb.hkl_grid<f64>, !nb.vec3<f64>
// CHECK-NEXT: nb.in_grid nearest integral %{{.*}}[%{{.*}}] : !nb.hkl_grid<f32>, !nb.vec3<vector<8xf64>>
// CHECK-NEXT: nb.structure_factor nearest %{{.*}}[%{{.*}}] default %{{.*}} : !nb.hkl_grid<f64>, !nb.vec3<f64>
// CHECK-NEXT: nb.structure_factor tricubic %{{.*}}[%{{.*}}] : !nb.hkl_grid<f64>, !nb.vec3<f64>
// CHECK-NEXT: nb.structure_factor nearest integral %{{.*}}[%{{.*}}] : !nb.hkl_grid<f32>, !nb.vec3<vector<8xf64>>
// CHECK-NEXT: nb.intensity %{{.*}}, %{{.*}} : f64
func.func @structure_factors(%F: !nb.hkl_grid<f64>, %G: !nb.hkl_grid<f32>, %hkl: !nb.vec3<f64>,
                             %lanes: !nb.vec3<vector<8xf64>>, %F0: f64)
    -> (i1, i1, vector<8xi1>, f64, vector<8xf64>) {
  %n = nb.in_grid nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %t = nb.in_grid tricubic %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %i = nb.in_grid nearest integral %G[%lanes] : !nb.hkl_grid<f32>, !nb.vec3<vector<8xf64>>
  %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %g = nb.structure_factor tricubic %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %h = nb.structure_factor nearest integral %G[%lanes]
      : !nb.hkl_grid<f32>, !nb.vec3<vector<8xf64>>
  %I = nb.intensity %f, %g : f64
  return %n, %t, %i, %I, %h : i1, i1, vector<8xi1>, f64, vector<8xf64>
}

// CHECK-LABEL: func.func @corrections
// CHECK: nb.polarization %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.solid_angle pixel %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.solid_angle point %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.capture_fraction %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.water_background %{{.*}}, %{{.*}} : f64
func.func @corrections(%v: !nb.vec3<f64>, %x: f64) -> (f64, f64, f64, f64, f64) {
  %p = nb.polarization %x, %v, %v, %v : !nb.vec3<f64>
  %w = nb.solid_angle pixel %v, %x, %x : !nb.vec3<f64>
  %u = nb.solid_angle point %v, %x, %x : !nb.vec3<f64>
  %c = nb.capture_fraction %v, %v, %x, %x, %x : !nb.vec3<f64>
  %b = nb.water_background %x, %x : f64
  return %p, %w, %u, %c, %b : f64, f64, f64, f64, f64
}
