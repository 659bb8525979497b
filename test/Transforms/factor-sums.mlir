// RUN: nb-opt %s --nb-hoist-invariants --nb-factor-sums --nb-hoist-invariants | FileCheck %s
// RUN: nb-opt %s --nb-hoist-invariants | FileCheck %s --check-prefix=OFF
// RUN: nb-opt %s --nb-factor-sums | FileCheck %s --check-prefix=ALONE

// sum(x * w * y) = sum(x * y) * w

// CHECK-LABEL: func.func @product
// CHECK-SAME: (%{{.*}}: index, %[[W:[^ ]*]]: f64,
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK-NEXT: %[[X:.*]] = nb.lookup
// CHECK-NEXT: %[[Y:.*]] = math.sin %[[X]]
// CHECK-NEXT: %[[TERM:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT: nb.yield %[[TERM]]
// CHECK: %[[R:.*]] = arith.mulf %[[SUM]], %[[W]]
// CHECK-NEXT: return %[[R]]
// OFF-LABEL: func.func @product
// OFF-COUNT-2: arith.mulf
// OFF-NEXT: nb.yield
func.func @product(%n: index, %w: f64, %t: !nb.table<?xf64>) -> f64 {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %xw = arith.mulf %x, %w fastmath<fast> : f64
    %y = math.sin %x fastmath<fast> : f64
    %xwy = arith.mulf %xw, %y fastmath<fast> : f64
    nb.yield %xwy : f64
  }
  return %I : f64
}

// sum(c ? x * w : 0) = c ? sum(x) * w : 0

// CHECK-LABEL: func.func @condition
// CHECK-SAME: (%{{.*}}: index, %[[C:.*]]: i1, %[[W:[^ ]*]]: f64,
// CHECK: %[[R:.*]] = scf.if %[[C]] -> (f64) {
// CHECK: %[[SUM:.*]] = nb.sum
// CHECK-NEXT: %[[X:.*]] = nb.lookup
// CHECK-NEXT: nb.yield %[[X]]
// CHECK: %[[SW:.*]] = arith.mulf %[[SUM]], %[[W]]
// CHECK-NEXT: scf.yield %[[SW]]
// CHECK: return %[[R]]
func.func @condition(%n: index, %c: i1, %w: f64, %t: !nb.table<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = scf.if %c -> f64 {
      %xw = arith.mulf %x, %w fastmath<fast> : f64
      scf.yield %xw : f64
    } else {
      scf.yield %zero : f64
    }
    nb.yield %y : f64
  }
  return %I : f64
}

// A sum whose terms are not 0 without the condition keeps it.

// CHECK-LABEL: func.func @not_zero
// CHECK-NOT: scf.if
// CHECK: nb.sum source
// CHECK-NEXT: nb.lookup
// CHECK-NEXT: scf.if
func.func @not_zero(%n: index, %c: i1, %t: !nb.table<?xf64>) -> f64 {
  %one = arith.constant 1.0 : f64
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = scf.if %c -> f64 {
      scf.yield %x : f64
    } else {
      scf.yield %one : f64
    }
    nb.yield %y : f64
  }
  return %I : f64
}

// Nor does one lose it whose terms are used besides, or which does more than add up.

// ALONE-LABEL: func.func @used_besides
// ALONE: nb.sum source
// ALONE: %[[TERM:.*]] = scf.if
// ALONE: nb.sum mosaic
// ALONE-NEXT: nb.yield %[[TERM]]
// ALONE: nb.yield %[[TERM]]
func.func @used_besides(%n: index, %c: i1, %t: !nb.table<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = scf.if %c -> f64 {
      scf.yield %x : f64
    } else {
      scf.yield %zero : f64
    }
    %again = nb.sum mosaic %j in %i : f64 {
      nb.yield %y : f64
    }
    nb.yield %y : f64
  }
  return %I : f64
}

// CHECK-LABEL: func.func @not_pure
// CHECK-NOT: scf.if
// CHECK: nb.sum source
// CHECK: memref.store
// CHECK: scf.if
func.func @not_pure(%n: index, %c: i1, %t: !nb.table<?xf64>, %m: memref<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    memref.store %x, %m[%i] : memref<?xf64>
    %y = scf.if %c -> f64 {
      scf.yield %x : f64
    } else {
      scf.yield %zero : f64
    }
    nb.yield %y : f64
  }
  return %I : f64
}

// Not without the flags that allow it: of no terms, the sum is 0 even where the factor is infinite.

// CHECK-LABEL: func.func @as_written
// CHECK: %[[SUM:.*]]:4 = nb.sum
// CHECK-COUNT-4: arith.mulf
// CHECK: return %[[SUM]]#0, %[[SUM]]#1, %[[SUM]]#2, %[[SUM]]#3
func.func @as_written(%n: index, %w: f64, %t: !nb.table<?xf64>) -> (f64, f64, f64, f64) {
  %I:4 = nb.sum source %i in %n : f64, f64, f64, f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %a = arith.mulf %x, %w : f64
    %b = arith.mulf %x, %w fastmath<reassoc,nnan> : f64
    %c = arith.mulf %x, %w fastmath<reassoc,ninf> : f64
    %d = arith.mulf %x, %w fastmath<nnan,ninf> : f64
    nb.yield %a, %b, %c, %d : f64, f64, f64, f64
  }
  return %I#0, %I#1, %I#2, %I#3 : f64, f64, f64, f64
}
