// RUN: nb-opt %s --canonicalize | FileCheck %s

// Parts of what was just put together.

// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[X:.*]]: f64, %[[Y:.*]]: f64, %[[Z:.*]]: f64)
// CHECK-NEXT: return %[[Y]], %[[Z]], %[[X]]
func.func @parts(%x: f64, %y: f64, %z: f64) -> (f64, f64, f64) {
  %v = nb.vec %x, %y, %z : f64
  %vy = nb.component %v[1] : !nb.vec3<f64>
  %m = nb.mat %x, %x, %x, %y, %y, %z, %x, %x, %x : !nb.mat3<f64>
  %m12 = nb.element %m[1, 2] : !nb.mat3<f64>
  %row = nb.row %m[2] : !nb.mat3<f64>
  %m20 = nb.component %row[0] : !nb.vec3<f64>
  return %vy, %m12, %m20 : f64, f64, f64
}

// Neutral and self-inverse ops.

// CHECK-LABEL: func.func @nothing
// CHECK-SAME: (%[[V:.*]]: !nb.vec3<f64>, %[[M:.*]]: !nb.mat3<f64>)
// CHECK-NEXT: return %[[V]], %[[M]]
func.func @nothing(%v: !nb.vec3<f64>, %m: !nb.mat3<f64>) -> (!nb.vec3<f64>, !nb.mat3<f64>) {
  %one = arith.constant 1.0 : f64
  %w = nb.scale %v, %one : !nb.vec3<f64>
  %t = nb.transpose %m : !nb.mat3<f64>
  %n = nb.transpose %t : !nb.mat3<f64>
  return %w, %n : !nb.vec3<f64>, !nb.mat3<f64>
}

// A cube of edge 2; five cells on a Bragg peak and two a quarter off it, sin(pi/2) / sin(pi/4);
// 3^2 2^2; a water cube of 0.1 m in one photon per square metre.

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[VOLUME:.*]] = arith.constant {{7.99999999999999[0-9]*|8.000000e\+00}} : f64
// CHECK-DAG: %[[PEAK:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-DAG: %[[SIDE:.*]] = arith.constant 1.414213562373095{{[0-9]*}} : f64
// CHECK-DAG: %[[INTENSITY:.*]] = arith.constant 3.600000e+01 : f64
// CHECK-DAG: %[[WATER:.*]] = arith.constant 0.00175472298{{[0-9]*}} : f64
// CHECK: return %[[VOLUME]], %[[PEAK]], %[[SIDE]], %[[INTENSITY]], %[[WATER]]
func.func @constants() -> (f64, f64, f64, f64, f64) {
  %a = arith.constant 2.0 : f64
  %right = arith.constant 1.5707963267948966 : f64
  %V = nb.cell_volume %a, %a, %a, %right, %right, %right : f64
  %zero = arith.constant 0.0 : f64
  %five = arith.constant 5.0 : f64
  %peak = nb.sincg %zero, %five : f64
  %quarter = arith.constant 0.25 : f64
  %side = nb.sincg %quarter, %a : f64
  %three = arith.constant 3.0 : f64
  %I = nb.intensity %three, %a : f64
  %edge = arith.constant 1.0e-1 : f64
  %fluence = arith.constant 1.0 : f64
  %water = nb.water_background %edge, %fluence : f64
  return %V, %peak, %side, %I, %water : f64, f64, f64, f64, f64
}

// On a peak the result is N, which only the run knows.

// CHECK-LABEL: func.func @unknown
// CHECK: nb.sincg
func.func @unknown(%n: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %peak = nb.sincg %zero, %n : f64
  return %peak : f64
}

// Derivatives are not in the folder's formula.

// CHECK-LABEL: func.func @order
// CHECK: nb.sincg %{{.*}}, %{{.*}} order 1 : f64
func.func @order() -> f64 {
  %zero = arith.constant 0.0 : f64
  %slope = nb.sincg %zero, %zero order 1 : f64
  return %slope : f64
}

// Products of two vectors stay that.

// CHECK-LABEL: func.func @rank_one
// CHECK-SAME: (%[[U:.*]]: !nb.vec3<f64>, %[[V:.*]]: !nb.vec3<f64>, %[[M:.*]]: !nb.mat3<f64>)
// CHECK-DAG: %[[A:.*]] = nb.outer %[[V]], %[[U]]
// CHECK-DAG: %[[MU:.*]] = nb.transform %[[M]], %[[U]]
// CHECK-DAG: %[[B:.*]] = nb.outer %[[MU]], %[[V]]
// CHECK-DAG: %[[MT:.*]] = nb.transpose %[[M]]
// CHECK-DAG: %[[MTV:.*]] = nb.transform %[[MT]], %[[V]]
// CHECK-DAG: %[[C:.*]] = nb.outer %[[U]], %[[MTV]]
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @rank_one(%u: !nb.vec3<f64>, %v: !nb.vec3<f64>, %m: !nb.mat3<f64>)
    -> (!nb.mat3<f64>, !nb.mat3<f64>, !nb.mat3<f64>) {
  %p = nb.outer %u, %v : !nb.vec3<f64>
  %a = nb.transpose %p : !nb.mat3<f64>
  %b = nb.multiply %m, %p : !nb.mat3<f64>
  %c = nb.multiply %p, %m : !nb.mat3<f64>
  return %a, %b, %c : !nb.mat3<f64>, !nb.mat3<f64>, !nb.mat3<f64>
}

// CHECK-LABEL: func.func @rank_one_applied
// CHECK-SAME: (%[[U:.*]]: !nb.vec3<f64>, %[[V:.*]]: !nb.vec3<f64>, %[[M:.*]]: !nb.mat3<f64>)
// CHECK-DAG: %[[UV:.*]] = nb.dot %[[V]], %[[U]]
// CHECK-DAG: %[[A:.*]] = nb.scale %[[U]], %[[UV]]
// CHECK-DAG: %[[MV:.*]] = nb.transform %[[M]], %[[V]]
// CHECK-DAG: %[[B:.*]] = nb.dot %[[U]], %[[MV]]
// CHECK: return %[[A]], %[[B]]
func.func @rank_one_applied(%u: !nb.vec3<f64>, %v: !nb.vec3<f64>, %m: !nb.mat3<f64>)
    -> (!nb.vec3<f64>, f64) {
  %p = nb.outer %u, %v : !nb.vec3<f64>
  %a = nb.transform %p, %u : !nb.vec3<f64>
  %b = nb.frobenius %m, %p : !nb.mat3<f64>
  return %a, %b : !nb.vec3<f64>, f64
}

// The derivatives with respect to the parts of a vector become one vector; overlapping ones are left to the sum.

// CHECK-LABEL: func.func @parts_of_a_sum
// CHECK-SAME: (%[[X:.*]]: f64, %[[Y:.*]]: f64, %[[Z:.*]]: f64)
// CHECK: %[[V:.*]] = nb.vec %[[X]], %[[Y]], %[[Z]] : f64
// CHECK: nb.add
// CHECK: return %[[V]]
func.func @parts_of_a_sum(%x: f64, %y: f64, %z: f64) -> (!nb.vec3<f64>, !nb.vec3<f64>) {
  %zero = arith.constant 0.0 : f64
  %a = nb.vec %x, %zero, %zero : f64
  %b = nb.vec %zero, %y, %zero : f64
  %c = nb.vec %zero, %zero, %z : f64
  %ab = nb.add %a, %b : !nb.vec3<f64>
  %abc = nb.add %ab, %c : !nb.vec3<f64>
  %overlap = nb.add %a, %ab : !nb.vec3<f64>
  return %abc, %overlap : !nb.vec3<f64>, !nb.vec3<f64>
}
