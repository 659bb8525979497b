// RUN: nb-opt %s --nb-fuse --split-input-file | FileCheck %s

// A value and its gradient take one sweep: images merge, which makes siblings of their sums, whose
// common terms are computed once.

// CHECK-LABEL: func.func @sweep
// CHECK: %[[R:.*]]:3 = nb.image {{.*}} : tensor<?x?x?xf64>, f64, !nb.table<?xf64> {
// CHECK-NEXT: %[[S:.*]]:3 = nb.sum source %{{.*}} : f64, f64, !nb.table<?xf64> {
// CHECK-NEXT: %[[T:.*]]:3 = nb.sum mosaic %[[J:.*]] in %{{.*}} : f64, f64, !nb.table<?xf64> {
// CHECK-NEXT: nb.lookup
// CHECK-NOT: nb.lookup
// CHECK: nb.scatter
// CHECK-NEXT: nb.yield
// CHECK-NOT: nb.sum
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @sweep(%n: index, %m: index, %x: f64, %t: !nb.table<?xf64>)
    -> (tensor<?x?x?xf64>, f64, !nb.table<?xf64>) {
  %v = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %a = nb.sum source %i in %m : f64 {
      %b = nb.sum mosaic %j in %m : f64 {
        %w = nb.lookup %t[%j] : !nb.table<?xf64>
        %y = arith.mulf %w, %x : f64
        nb.yield %y : f64
      }
      nb.yield %b : f64
    }
    nb.yield %a : f64
  }
  %g, %h = nb.image panel %p in %n, slow %s in %n, fast %f in %n : f64, !nb.table<?xf64> {
    %a:2 = nb.sum source %i in %m : f64, !nb.table<?xf64> {
      %b:2 = nb.sum mosaic %j in %m : f64, !nb.table<?xf64> {
        %w = nb.lookup %t[%j] : !nb.table<?xf64>
        %e = nb.scatter %x at [%j] in (%m) : !nb.table<?xf64>
        nb.yield %w, %e : f64, !nb.table<?xf64>
      }
      nb.yield %b#0, %b#1 : f64, !nb.table<?xf64>
    }
    nb.yield %a#0, %a#1 : f64, !nb.table<?xf64>
  }
  return %v, %g, %h : tensor<?x?x?xf64>, f64, !nb.table<?xf64>
}

// -----

// Counts that two bodies compute alike are one value only after the bodies have met.

// CHECK-LABEL: func.func @counts
// CHECK-COUNT-2: nb.sum
// CHECK-NOT: nb.sum
func.func @counts(%n: index, %x: f64, %y: f64) -> (f64, f64) {
  %a = nb.sum source %i in %n : f64 {
    %k = arith.addi %i, %n : index
    %b = nb.sum mosaic %j in %k : f64 {
      nb.yield %x : f64
    }
    nb.yield %b : f64
  }
  %c = nb.sum source %i in %n : f64 {
    %k = arith.addi %i, %n : index
    %b = nb.sum mosaic %j in %k : f64 {
      nb.yield %y : f64
    }
    nb.yield %b : f64
  }
  return %a, %c : f64, f64
}

// -----

// What two loops both sum is summed once, what has no user is not.

// CHECK-LABEL: func.func @twice
// CHECK: %[[S:.*]] = nb.sum source %{{.*}} : f64 {
// CHECK-NEXT: nb.lookup
// CHECK-NEXT: nb.yield %{{.*}} : f64
// CHECK: return %[[S]], %[[S]]
func.func @twice(%n: index, %x: f64, %t: !nb.table<?xf64>) -> (f64, f64) {
  %a:2 = nb.sum source %i in %n : f64, f64 {
    %w = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = arith.mulf %w, %x : f64
    nb.yield %w, %y : f64, f64
  }
  %b = nb.sum source %i in %n : f64 {
    %w = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %w : f64
  }
  return %a#0, %b : f64, f64
}

// -----

// An image that is returned twice is two results of the sweep: each has memory of its own.

// CHECK-LABEL: func.func @twice
// CHECK: %[[R:.*]]:2 = nb.image
// CHECK: nb.yield %{{.*}}, %{{.*}} : f64, f64
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @twice(%n: index, %x: f64) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %v = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %v, %v : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}
