// RUN: nb-opt %s --convert-nb-to-loops | FileCheck %s

// Tables of reflections stand together, the entries of all for one reflection side by side.

// CHECK-LABEL: func.func @light
// CHECK: %[[C4:.*]] = arith.constant 4
// CHECK: %[[NUMBERS:.*]] = arith.muli %{{.*}}, %[[C4]]
// CHECK: %[[ENTRIES:.*]] = memref.alloc(%[[NUMBERS]])
// CHECK-NOT: memref.alloc
// CHECK: iter_args
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK: memref.load %[[ENTRIES]][%[[FIRST]]]
// CHECK: %[[SECOND:.*]] = arith.addi
// CHECK: memref.load %[[ENTRIES]][%[[SECOND]]]
func.func @light(%place: !nb.table<?xf64>, %x: f64, %n: index) -> f64 {
  %square, %axis = nb.tabulate reflection %i in %n : !nb.table<?xf64>, !nb.table<?x!nb.vec3<f64>> {
    %at = nb.lookup inbounds %place[%i] : !nb.table<?xf64>
    %product = arith.mulf %at, %at : f64
    %vec = nb.vec %at, %product, %x : f64
    nb.yield %product, %vec : f64, !nb.vec3<f64>
  }
  %sum = nb.sum reflection %i in %n : f64 {
    %one = nb.lookup inbounds %square[%i] : !nb.table<?xf64>
    %two = nb.lookup inbounds %axis[%i] : !nb.table<?x!nb.vec3<f64>>
    %length = nb.dot %two, %two : !nb.vec3<f64>
    %term = arith.mulf %one, %length : f64
    nb.yield %term : f64
  }
  return %sum : f64
}
