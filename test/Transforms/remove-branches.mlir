// RUN: nb-opt %s --nb-remove-branches | FileCheck %s

// Both branches are computed; each result becomes a select, a vector one for each component.

// CHECK-LABEL: func.func @if
// CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: f64, %[[V:.*]]: !nb.vec3<f64>)
// CHECK-NEXT: %[[DOUBLE:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT: %[[UNIT:.*]] = nb.normalize %[[V]]
// CHECK-NEXT: %[[R0:.*]] = arith.select %[[C]], %[[DOUBLE]], %[[X]] : f64
// CHECK-NEXT: %[[V0:.*]] = nb.component %[[V]][0]
// CHECK-NEXT: %[[U0:.*]] = nb.component %[[UNIT]][0]
// CHECK-NEXT: arith.select %[[C]], %[[V0]], %[[U0]] : f64
// CHECK: %[[R1:.*]] = nb.vec
// CHECK-NEXT: return %[[R0]], %[[R1]]
func.func @if(%c: i1, %x: f64, %v: !nb.vec3<f64>) -> (f64, !nb.vec3<f64>) {
  %r:2 = scf.if %c -> (f64, !nb.vec3<f64>) {
    %double = arith.addf %x, %x : f64
    scf.yield %double, %v : f64, !nb.vec3<f64>
  } else {
    %unit = nb.normalize %v : !nb.vec3<f64>
    scf.yield %x, %unit : f64, !nb.vec3<f64>
  }
  return %r#0, %r#1 : f64, !nb.vec3<f64>
}

// Nested branches, the inner one in the condition's shadow.

// CHECK-LABEL: func.func @nested
// CHECK-SAME: (%[[C:.*]]: i1, %[[D:.*]]: i1, %[[X:.*]]: f64, %[[Y:.*]]: f64)
// CHECK-NEXT: %[[INNER:.*]] = arith.select %[[D]], %[[X]], %[[Y]]
// CHECK-NEXT: %[[OUTER:.*]] = arith.select %[[C]], %[[INNER]], %[[Y]]
// CHECK-NEXT: return %[[OUTER]]
func.func @nested(%c: i1, %d: i1, %x: f64, %y: f64) -> f64 {
  %r = scf.if %c -> f64 {
    %s = scf.if %d -> f64 {
      scf.yield %x : f64
    } else {
      scf.yield %y : f64
    }
    scf.yield %s : f64
  } else {
    scf.yield %y : f64
  }
  return %r : f64
}

// A whole sum may stand in a branch.

// CHECK-LABEL: func.func @sum
// CHECK-NOT: scf.if
// CHECK: %[[SUM:.*]] = nb.sum
// CHECK: arith.select %{{.*}}, %[[SUM]],
func.func @sum(%c: i1, %n: index, %w: !nb.table<?xf64>, %zero: f64) -> f64 {
  %r = scf.if %c -> f64 {
    %I = nb.sum source %i in %n : f64 {
      %x = nb.lookup %w[%i] : !nb.table<?xf64>
      nb.yield %x : f64
    }
    scf.yield %I : f64
  } else {
    scf.yield %zero : f64
  }
  return %r : f64
}

// A matrix is chosen element by element, each at its place.

// CHECK-LABEL: func.func @matrix
// CHECK-SAME: (%[[C:.*]]: i1, %[[A:.*]]: !nb.mat3<f64>, %[[B:.*]]: !nb.mat3<f64>)
// CHECK: %[[A01:.*]] = nb.element %[[A]][0, 1]
// CHECK: %[[B01:.*]] = nb.element %[[B]][0, 1]
// CHECK: %[[E01:.*]] = arith.select %[[C]], %[[A01]], %[[B01]] : f64
// CHECK: nb.mat %{{[^,]*}}, %[[E01]], %
func.func @matrix(%c: i1, %a: !nb.mat3<f64>, %b: !nb.mat3<f64>) -> !nb.mat3<f64> {
  %r = scf.if %c -> !nb.mat3<f64> {
    scf.yield %a : !nb.mat3<f64>
  } else {
    scf.yield %b : !nb.mat3<f64>
  }
  return %r : !nb.mat3<f64>
}

// What a branch guards is given a harmless place or divisor where it is not taken, unless it is known
// to be safe.

// CHECK-LABEL: func.func @guarded
// CHECK-SAME: (%[[C:.*]]: i1, %[[D:.*]]: i1, %[[I:.*]]: index, %[[K:.*]]: index, %[[T:.*]]: !nb.table<?xf64>, %[[X:.*]]: f64)
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[BY:.*]] = arith.select %[[C]], %[[K]], %[[ONE]] : index
// CHECK: %[[Q:.*]] = arith.divui %[[I]], %[[BY]] : index
// CHECK: %[[INNER:.*]] = arith.select %[[D]], %[[Q]], %{{.*}} {nb.guard} : index
// CHECK: %[[OUTER:.*]] = arith.select %[[C]], %[[INNER]], %{{.*}} {nb.guard} : index
// CHECK: %[[A:.*]] = nb.lookup %[[T]][%[[OUTER]]]
// CHECK: arith.select %[[D]], %[[A]], %[[X]] : f64
// CHECK: %[[ELSE:.*]] = arith.select %[[C]], %{{.*}}, %[[K]] {nb.guard} : index
// CHECK: nb.lookup %[[T]][%[[ELSE]]]
// CHECK: nb.lookup inbounds %[[T]][%[[I]]]
func.func @guarded(%c: i1, %d: i1, %i: index, %k: index, %t: !nb.table<?xf64>, %x: f64) -> f64 {
  %r = scf.if %c -> f64 {
    %q = arith.divui %i, %k : index
    %s = scf.if %d -> f64 {
      %a = nb.lookup %t[%q] : !nb.table<?xf64>
      scf.yield %a : f64
    } else {
      scf.yield %x : f64
    }
    scf.yield %s : f64
  } else {
    %a = nb.lookup %t[%k] : !nb.table<?xf64>
    %b = nb.lookup inbounds %t[%i] : !nb.table<?xf64>
    %s = arith.addf %a, %b : f64
    scf.yield %s : f64
  }
  return %r : f64
}
