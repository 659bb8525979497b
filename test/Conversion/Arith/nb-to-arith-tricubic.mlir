// RUN: nb-opt %s --convert-nb-to-arith | FileCheck %s

// Interpolation in lanes: a loop over the lanes, whose offsets and weights go through stack memory
// taken ahead of all loops. A grid with less than four values along l is not read.

// CHECK-LABEL: func.func @lanes
// CHECK: scf.for
// CHECK-COUNT-3: memref.alloca() {alignment = 64 : i64}
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: %[[ENOUGH:.*]] = arith.cmpi sge
// CHECK: %[[COUNT:.*]] = arith.select %[[ENOUGH]], %{{.*}}, %{{.*}} : index
// CHECK: scf.for %{{.*}} to %[[COUNT]]
// CHECK-COUNT-16: vector.load %{{.*}} : memref<?xf64>, vector<4xf64>
// CHECK-NOT: vector.gather
func.func @lanes(%F: !nb.hkl_grid<f64>, %x: vector<8xf64>, %n: index, %out: memref<?xf64>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    scf.for %j = %zero to %n step %one {
      %hkl = nb.vec %x, %x, %x : vector<8xf64>
      %f = nb.structure_factor tricubic %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
      vector.store %f, %out[%j] : memref<?xf64>, vector<8xf64>
    }
  }
  return
}

// CHECK-LABEL: func.func @no_loop
// CHECK-COUNT-3: memref.alloca
// CHECK: vector.transpose
func.func @no_loop(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<vector<2xf64>>) -> vector<2xf64> {
  %x = nb.structure_factor tricubic %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<vector<2xf64>>
  return %x : vector<2xf64>
}

// The value and its derivatives read the neighbours once; the sums over k of plain weights are shared
// by the value and the derivatives along h and l.

// CHECK-LABEL: func.func @gradient
// CHECK: scf.for
// CHECK-COUNT-16: vector.load %{{.*}} : memref<?xf64>, vector<4xf64>
// CHECK-NOT: vector.load %{{.*}} : memref<?xf64>
// CHECK-COUNT-3: vector.store %{{.*}} : memref<96xf64>, vector<4xf64>
// CHECK-COUNT-3: vector.transpose
// CHECK-NOT: vector.transpose
// CHECK: return
func.func @gradient(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<vector<8xf64>>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>) {
  %x = nb.structure_factor tricubic %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  %a = nb.structure_factor tricubic %F[%h] order [1, 0, 0] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  %b = nb.structure_factor tricubic %F[%h] order [0, 1, 0] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  %c = nb.structure_factor tricubic %F[%h] order [0, 0, 1] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>
  return %x, %a, %b, %c : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>
}
