// RUN: nb-opt %s --convert-nb-to-arith | FileCheck %s

// What a loop adds up is added part by part: each product in one instruction.

// CHECK-LABEL: func.func @dot
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: %[[Y:.*]] = arith.mulf
// CHECK: %[[Z:.*]] = arith.mulf
// CHECK: %[[A:.*]] = arith.addf %[[SUM]], %[[X]] fastmath<contract>
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[Y]] fastmath<contract>
// CHECK: %[[C:.*]] = arith.addf %[[B]], %[[Z]] fastmath<contract>
// CHECK-NEXT: scf.yield %[[C]]
func.func @dot(%n: index, %x: !nb.vec3<f64>, %y: !nb.vec3<f64>) -> f64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 0.0 : f64
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (f64) {
    %d = nb.dot %x, %y : !nb.vec3<f64>
    %next = arith.addf %s, %d fastmath<contract> : f64
    scf.yield %next : f64
  }
  return %sum : f64
}

// Not where rounding in between is asked for.

// CHECK-LABEL: func.func @strict
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[XY:.*]] = arith.addf %{{.*}}, %{{.*}} : f64
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[XY]]
// CHECK-NEXT: scf.yield %[[NEXT]]
func.func @strict(%n: index, %x: f64, %y: f64) -> f64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 0.0 : f64
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (f64) {
    %xx = arith.mulf %x, %x : f64
    %xy = arith.addf %xx, %y : f64
    %next = arith.addf %s, %xy fastmath<contract> : f64
    scf.yield %next : f64
  }
  return %sum : f64
}
