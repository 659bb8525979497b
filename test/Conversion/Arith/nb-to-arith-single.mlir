// RUN: nb-opt %s --convert-nb-to-arith --split-input-file | FileCheck %s

// An f32 lattice factor of an f64 index: one addition gives the nearest reflection and the rest in
// fixed point; N times the rest is an integer product; no f64 arithmetic follows.

// CHECK-LABEL: func.func @square
// CHECK: %[[SHIFTED:.*]] = arith.addf {{.*}} : vector<16xf64>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SHIFTED]] : vector<16xf64> to vector<16xi64>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[BITS]] : vector<16xi64> to vector<32xi32>
// CHECK: vector.shuffle %[[WORDS]], %{{.*}} [1, 3, 5, {{.*}}] : vector<32xi32>, vector<32xi32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, {{.*}}] : vector<32xi32>, vector<32xi32>
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.muli %{{.*}} : vector<16xi32>
// CHECK-NOT: arith.divf {{.*}} : vector<16xf64>
// CHECK: arith.divf {{.*}} : vector<16xf32>
// CHECK: arith.select %{{.*}} : vector<16xi1>, vector<16xf32>
func.func @square(%hkl: !nb.vec3<vector<16xf64>>, %n: !nb.vec3<vector<16xf64>>) -> vector<16xf32> {
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %L : vector<16xf32>
}

// -----

// A lookup with a default is one masked load; a lattice factor beside it takes the same fixed point.

// CHECK-LABEL: func.func @nearest
// CHECK-COUNT-3: arith.cmpi ule
// CHECK: %[[VALUES:.*]] = vector.gather {{.*}} : memref<?xf64>, vector<16xi32>, vector<16xi1>, vector<16xf64> into vector<16xf64>
// CHECK: arith.truncf %[[VALUES]] : vector<16xf64> to vector<16xf32>
// CHECK-NOT: vector.gather
func.func @nearest(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<vector<16xf64>>,
                   %F0: vector<16xf32>) -> vector<16xf32> {
  %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %f : vector<16xf32>
}

// -----

// The same in f64, eight lanes to a gather.

// CHECK-LABEL: func.func @wide
// CHECK-COUNT-2: vector.gather {{.*}} : memref<?xf64>, vector<8xi32>, vector<8xi1>, vector<8xf64> into vector<8xf64>
// CHECK-NOT: arith.select
func.func @wide(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<vector<16xf64>>,
                %F0: vector<16xf64>) -> vector<16xf64> {
  %f = nb.structure_factor nearest integral %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<vector<16xf64>>
  return %f : vector<16xf64>
}

// -----

// Interpolation falls back to that masked load, by one select; a scalar's load is clamped.

// CHECK-LABEL: func.func @tricubic
// CHECK: vector.gather {{.*}} : memref<?xf64>, vector<8xi32>, vector<8xi1>, vector<8xf64> into vector<8xf64>
// CHECK-COUNT-16: vector.load
// CHECK: vector.transpose
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xf64>
// CHECK-NOT: arith.select
// CHECK-LABEL: func.func @scalar
// CHECK-COUNT-1: memref.load
// CHECK-NOT: memref.load
// CHECK: arith.select {{.*}} : f64
// CHECK-NEXT: return
func.func @tricubic(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<vector<8xf64>>,
                    %F0: vector<8xf64>) -> vector<8xf64> {
  %f = nb.structure_factor tricubic %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  return %f : vector<8xf64>
}
func.func @scalar(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64) -> f64 {
  %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f : f64
}

// -----

// A round lattice factor's phase is reduced in fixed point a second time; its root is f64.

// CHECK-LABEL: func.func @round
// CHECK-COUNT-3: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf64>
// CHECK: arith.shrui %{{.*}} : vector<16xi64>
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK-NOT: math.sqrt
// CHECK-NOT: arith.divf
func.func @round(%hkl: !nb.vec3<vector<16xf64>>, %n: !nb.vec3<vector<16xf64>>,
                 %fudge: vector<16xf64>) -> vector<16xf32> {
  %L = nb.lattice_factor round %hkl, %n fudge %fudge : !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %L : vector<16xf32>
}
