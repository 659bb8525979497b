// RUN: nb-opt %s --nb-hoist-invariants | FileCheck %s

// What depends on nothing leaves the image, what depends on the pixel alone leaves the sum.

// CHECK-LABEL: func.func @levels
// CHECK: %[[AREA:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK: nb.image panel %{{.*}}, slow %[[S:.*]] in %{{.*}}, fast
// CHECK-NEXT: %[[PIXEL:.*]] = nb.lookup inbounds %{{.*}}[%[[S]]]
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[AREA]], %[[PIXEL]]
// CHECK-NEXT: nb.sum source %[[I:.*]] in
// CHECK-NEXT: nb.lookup inbounds %{{.*}}[%[[I]]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[SCALED]]
func.func @levels(%n: index, %size: f64, %rows: !nb.table<?xf64>, %weights: !nb.table<?xf64>)
    -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %n : f64 {
      %w = nb.lookup inbounds %weights[%i] : !nb.table<?xf64>
      %area = arith.mulf %size, %size : f64
      %r = nb.lookup inbounds %rows[%s] : !nb.table<?xf64>
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
      %w = nb.lookup inbounds %weights[%i] : !nb.table<?xf64>
      nb.yield %w : f64
    }
    %J = nb.sum source %i in %n : f64 {
      %w = nb.lookup inbounds %weights[%i] : !nb.table<?xf64>
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
  %entry = arith.remui %i, %n : index
  %r = nb.sum mosaic %j in %n : !nb.table<?xf64> {
    %w = math.sqrt %x : f64
    %t = nb.scatter %w at [%entry] in (%n) : !nb.table<?xf64>
    nb.yield %t : !nb.table<?xf64>
  }
  return %r : !nb.table<?xf64>
}

// An entry of a table is looked up ahead of a loop that may have no rounds only where it is known to
// be there: by a promise, or in a table that was made over the same dimension.

// CHECK-LABEL: func.func @entries
// CHECK: %[[MADE:.*]] = nb.tabulate
// CHECK: nb.lookup inbounds %t[%i]
// CHECK: nb.sum source
// CHECK: nb.lookup %[[MADE]]
// CHECK: nb.sum mosaic
// CHECK: nb.lookup %t[%j]
// CHECK: nb.lookup %[[MADE]][%i]
// CHECK: nb.yield
func.func @entries(%n: index, %t: !nb.table<?xf64>, %i: index, %j: index, %x: f64) -> f64 {
  %made = nb.tabulate source %k in %n : !nb.table<?xf64> {
    nb.yield %x : f64
  }
  %I = nb.sum source %k in %n : f64 {
    %J = nb.sum mosaic %l in %n : f64 {
      %a = nb.lookup inbounds %t[%i] : !nb.table<?xf64>
      %b = nb.lookup %t[%j] : !nb.table<?xf64>
      %c = nb.lookup %made[%k] : !nb.table<?xf64>
      %d = nb.lookup %made[%i] : !nb.table<?xf64>
      %ab = arith.addf %a, %b : f64
      %cd = arith.addf %c, %d : f64
      %e = arith.mulf %ab, %cd : f64
      nb.yield %e : f64
    }
    nb.yield %J : f64
  }
  return %I : f64
}
