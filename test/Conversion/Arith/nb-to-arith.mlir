// RUN: nb-opt %s --convert-nb-to-arith --cse --split-input-file | FileCheck %s

// Vectors are taken apart into components; a vector argument is split once, at the entry.

// CHECK-LABEL: func.func @vectors
// CHECK: %[[V:.*]]:3 = nb.parts %{{.*}} : !nb.vec3<f64> to f64, f64, f64
// CHECK: arith.mulf %[[V]]#0, %[[V]]#0 fastmath<contract>
// CHECK: math.sqrt
// CHECK-NOT: nb.
// CHECK: return
func.func @vectors(%v: !nb.vec3<f64>) -> f64 {
  %r = nb.norm %v : !nb.vec3<f64>
  return %r : f64
}

// -----

// Sine and cosine are polynomials, of scalars and of lanes: nothing calls a math library.

// CHECK-LABEL: func.func @scalar_rotation
// CHECK-NOT: math.{{sin|cos}}
// CHECK: math.roundeven %{{.*}} : f64
// CHECK-NOT: math.{{sin|cos}}
// CHECK-LABEL: func.func @lane_rotation
// CHECK-NOT: math.{{sin|cos}}
// CHECK: math.roundeven %{{.*}} : vector<8xf64>
// CHECK-NOT: math.{{sin|cos}}
// CHECK: return
func.func @scalar_rotation(%v: !nb.vec3<f64>, %angle: f64) -> f64 {
  %m = nb.axis_rotation %v, %angle : !nb.vec3<f64>
  %e = nb.element %m[0, 1] : !nb.mat3<f64>
  return %e : f64
}
func.func @lane_rotation(%v: !nb.vec3<vector<8xf64>>, %angle: vector<8xf64>) -> vector<8xf64> {
  %m = nb.axis_rotation %v, %angle : !nb.vec3<vector<8xf64>>
  %e = nb.element %m[0, 1] : !nb.mat3<vector<8xf64>>
  return %e : vector<8xf64>
}

// -----

// The grating function divides once, for all three axes, and never by zero.

// CHECK-LABEL: func.func @square
// CHECK: math.absf
// CHECK: %[[TINY:.*]] = arith.constant 1.000000e-30 : f64
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @square(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>) -> f64 {
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<f64>
  return %L : f64
}

// -----

// A clamped lookup: one load, or one gather for lanes.

// CHECK-LABEL: func.func @nearest
// CHECK: memref.load %{{.*}} : memref<?xf64>
// CHECK-LABEL: func.func @nearest_lanes
// CHECK: vector.gather %{{.*}} : memref<?xf64>, vector<8xi32>, vector<8xi1>, vector<8xf64> into vector<8xf64>
func.func @nearest(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) -> f64 {
  %x = nb.structure_factor nearest integral %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %x : f64
}
func.func @nearest_lanes(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<vector<8xf64>>) -> vector<8xf64> {
  %x = nb.structure_factor nearest integral %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  return %x : vector<8xf64>
}

// -----

// Tricubic interpolation reads 4 x 4 rows of 4 values; in lanes see nb-to-arith-tricubic.mlir.

// CHECK-LABEL: func.func @tricubic(
// A row may end before the fourth: then its last value is read again.
// CHECK-COUNT-4: arith.minsi %{{.*}}, %[[LAST:[^ ]*]] : index
// CHECK-COUNT-64: memref.load
// CHECK-NOT: memref.load
// CHECK-NOT: masked
// CHECK: return
func.func @tricubic(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) -> f64 {
  %x = nb.structure_factor tricubic %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %x : f64
}
