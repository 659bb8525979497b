// RUN: nb-opt %s --nb-hoist-invariants | FileCheck %s

// What depends on nothing leaves the image, what depends on the pixel alone leaves the sum.

// CHECK-LABEL: func.func @levels
// CHECK: %[[AREA:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK: nb.image panel %{{.*}}, slow %[[S:.*]] in %{{.*}}, fast
// CHECK-NEXT: %[[PIXEL:.*]] = nb.lookup %{{.*}}[%[[S]]]
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[AREA]], %[[PIXEL]]
// CHECK-NEXT: nb.sum source %[[I:.*]] in
// CHECK-NEXT: nb.lookup %{{.*}}[%[[I]]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[SCALED]]
func.func @levels(%n: index, %size: f64, %rows: !nb.table<?xf64>, %weights: !nb.table<?xf64>)
    -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %n : f64 {
      %w = nb.lookup %weights[%i] : !nb.table<?xf64>
      %area = arith.mulf %size, %size : f64
      %r = nb.lookup %rows[%s] : !nb.table<?xf64>
      %scaled = arith.mulf %area, %r : f64
      %x = arith.mulf %w, %scaled : f64
      nb.yield %x : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// A sum is moved as a whole, and equal values from two loops are kept once.

// CHECK-LABEL: func.func @whole_sums
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK-NOT: nb.sum
// CHECK: nb.image
// CHECK-NEXT: nb.yield %[[SUM]], %[[SUM]]
func.func @whole_sums(%n: index, %weights: !nb.table<?xf64>)
    -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %a, %b = nb.image panel %p in %n, slow %s in %n, fast %f in %n
      : tensor<?x?x?xf64>, tensor<?x?x?xf64> {
    %I = nb.sum source %i in %n : f64 {
      %w = nb.lookup %weights[%i] : !nb.table<?xf64>
      nb.yield %w : f64
    }
    %J = nb.sum source %i in %n : f64 {
      %w = nb.lookup %weights[%i] : !nb.table<?xf64>
      nb.yield %w : f64
    }
    nb.yield %I, %J : f64, f64
  }
  return %a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// What a sum adds up stays in it, although it is the same each time: made once, it would be added once.

// CHECK-LABEL: func.func @summand
// CHECK: %[[W:.*]] = math.sqrt
// CHECK: nb.sum mosaic
// CHECK-NEXT: %[[T:.*]] = nb.scatter %[[W]]
// CHECK-NEXT: nb.yield %[[T]]
func.func @summand(%n: index, %i: index, %x: f64) -> !nb.table<?xf64> {
  %r = nb.sum mosaic %j in %n : !nb.table<?xf64> {
    %w = math.sqrt %x : f64
    %t = nb.scatter %w at [%i] in (%n) : !nb.table<?xf64>
    nb.yield %t : !nb.table<?xf64>
  }
  return %r : !nb.table<?xf64>
}
