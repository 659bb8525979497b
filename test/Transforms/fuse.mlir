// RUN: nb-opt %s --nb-fuse | FileCheck %s

// A value and another one over the same images and sums become one sweep, at every level: merging
// the images makes siblings of their sums.

// CHECK-LABEL: func.func @levels
// CHECK: %[[IMG:.*]]:2 = nb.image panel {{.*}} : tensor<?x?x?xf64>, tensor<?x?x?xf64> {
// CHECK-NEXT: %[[OUTER:.*]]:2 = nb.sum source %[[I:.*]] in {{.*}} : f64, f64 {
// CHECK-NEXT: %[[INNER:.*]]:2 = nb.sum mosaic %[[J:.*]] in {{.*}} : f64, f64 {
// CHECK-NEXT: %[[X:.*]] = nb.lookup %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: %[[Y:.*]] = nb.lookup %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: nb.yield %[[X]], %[[Y]]
// CHECK: nb.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK: nb.yield %[[OUTER]]#0, %[[OUTER]]#1
// CHECK: return %[[IMG]]#0, %[[IMG]]#1
func.func @levels(%n: index, %ns: index, %nm: index, %t: !nb.table<?x?xf64>,
                  %u: !nb.table<?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %ns : f64 {
      %J = nb.sum mosaic %j in %nm : f64 {
        %x = nb.lookup %t[%i, %j] : !nb.table<?x?xf64>
        nb.yield %x : f64
      }
      nb.yield %J : f64
    }
    nb.yield %I : f64
  }
  %b = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %ns : f64 {
      %J = nb.sum mosaic %j in %nm : f64 {
        %x = nb.lookup %u[%i, %j] : !nb.table<?x?xf64>
        nb.yield %x : f64
      }
      nb.yield %J : f64
    }
    nb.yield %I : f64
  }
  return %a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// What the second sum is computed from moves ahead of the first; what uses the first stays behind.

// CHECK-LABEL: func.func @in_between
// CHECK-NEXT: %[[ROOT:.*]] = math.sqrt
// CHECK-NEXT: %[[SUM:.*]]:2 = nb.sum
// CHECK: arith.mulf %{{.*}}, %[[ROOT]]
// CHECK: }
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[SUM]]#0, %[[SUM]]#0
// CHECK-NEXT: return %[[TWICE]], %[[SUM]]#1
func.func @in_between(%n: index, %t: !nb.table<?xf64>, %w: f64) -> (f64, f64) {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %twice = arith.addf %I, %I : f64
  %root = math.sqrt %w : f64
  %J = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %xr = arith.mulf %x, %root : f64
    nb.yield %xr : f64
  }
  return %twice, %J : f64, f64
}

// Results of an inner sum that are equal make those of the outer one equal.

// CHECK-LABEL: func.func @equal_inside
// CHECK: %[[OUTER:.*]] = nb.sum source {{.*}} : f64 {
// CHECK: %[[INNER:.*]] = nb.sum mosaic {{.*}} : f64 {
// CHECK: nb.yield %[[INNER]] : f64
// CHECK: return %[[OUTER]], %[[OUTER]]
func.func @equal_inside(%n: index, %t: !nb.table<?x?xf64>) -> (f64, f64) {
  %outer:2 = nb.sum source %i in %n : f64, f64 {
    %inner:2 = nb.sum mosaic %j in %n : f64, f64 {
      %x = nb.lookup %t[%i, %j] : !nb.table<?x?xf64>
      nb.yield %x, %x : f64, f64
    }
    nb.yield %inner#0, %inner#1 : f64, f64
  }
  return %outer#0, %outer#1 : f64, f64
}
