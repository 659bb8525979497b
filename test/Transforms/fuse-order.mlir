// RUN: nb-opt %s --nb-fuse | FileCheck %s

// The last sum merges with the first, and what it uses moves ahead of both. That is a sum itself, which now
// stands ahead of the one over its own dimension that it stood behind: they merge all the same.

// CHECK-LABEL: func.func @moved
// CHECK: %[[SOURCES:.*]]:2 = nb.sum source
// CHECK: nb.sum mosaic
// CHECK: arith.mulf %{{.*}}, %[[SOURCES]]#0
// CHECK-NOT: nb.sum
// CHECK: return %{{.*}}#0, %[[SOURCES]]#1, %{{.*}}#1
func.func @moved(%n: index, %m: index, %t: !nb.table<?xf64>, %u: !nb.table<?xf64>)
    -> (f64, f64, f64) {
  %a = nb.sum mosaic %i in %m : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %b = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %c = nb.sum source %i in %n : f64 {
    %x = nb.lookup %u[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %d = nb.sum mosaic %i in %m : f64 {
    %x = nb.lookup %u[%i] : !nb.table<?xf64>
    %y = arith.mulf %x, %c : f64
    nb.yield %y : f64
  }
  return %a, %b, %d : f64, f64, f64
}

// Images are merged first: the sum that one of them is computed from is not put behind the other one, whose total
// the last sum uses.

// CHECK-LABEL: func.func @images_first
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK: %[[IMAGE:.*]]:2 = nb.image
// CHECK: nb.yield %[[SUM]], %{{.*}} : f64, f64
// CHECK-NOT: nb.image
// CHECK: %[[LAST:.*]] = nb.sum source
// CHECK-NEXT: nb.yield %[[IMAGE]]#1
// CHECK: return %[[IMAGE]]#0, %[[LAST]]
func.func @images_first(%n: index, %m: index, %x: f64, %y: f64)
    -> (tensor<?x?x?xf64>, f64) {
  %a = nb.sum source %i in %m : f64 {
    nb.yield %x : f64
  }
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %a : f64
  }
  %total = nb.image panel %p in %n, slow %s in %n, fast %f in %n : f64 {
    nb.yield %y : f64
  }
  %b = nb.sum source %i in %m : f64 {
    nb.yield %total : f64
  }
  return %image, %b : tensor<?x?x?xf64>, f64
}

// A sum with one result that needs an image and another one that an image needs is taken apart.

// CHECK-LABEL: func.func @taken_apart
// CHECK: %[[FACTOR:.*]] = nb.sum source
// CHECK: %[[IMAGE:.*]]:2 = nb.image
// CHECK: nb.yield %{{.*}}, %[[FACTOR]] : f64, f64
// CHECK-NOT: nb.image
// CHECK: %[[LAST:.*]] = nb.sum source
// CHECK-NEXT: nb.yield %[[IMAGE]]#0
// CHECK: return %[[LAST]], %[[IMAGE]]#1
func.func @taken_apart(%n: index, %m: index, %x: f64, %y: f64) -> (f64, tensor<?x?x?xf64>) {
  %total = nb.image panel %p in %n, slow %s in %n, fast %f in %n : f64 {
    nb.yield %y : f64
  }
  %sums:2 = nb.sum source %i in %m : f64, f64 {
    nb.yield %total, %x : f64, f64
  }
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %sums#1 : f64
  }
  return %sums#0, %image : f64, tensor<?x?x?xf64>
}
