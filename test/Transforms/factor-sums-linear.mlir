// RUN: nb-opt %s --nb-hoist-invariants --nb-factor-sums --nb-hoist-invariants | FileCheck %s

// Factors leave a sum through everything that is linear in them, constants and doubling too.

// CHECK-LABEL: func.func @vectors
// CHECK-SAME: (%{{.*}}: index, %[[W:[^ ]*]]: f64, %[[M:[^ ]*]]: !nb.mat3<f64>,
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK-NEXT: %[[X:.*]] = nb.lookup
// CHECK-NEXT: %[[MX:.*]] = nb.transform %[[M]], %[[X]]
// CHECK-NEXT: nb.yield %[[MX]]
// CHECK: %[[SIX:.*]] = arith.constant 6.0
// CHECK: %[[FACTOR:.*]] = arith.mulf %[[SIX]], %[[W]] fastmath<fast> : f64
// CHECK: %[[R:.*]] = nb.scale %[[SUM]], %[[FACTOR]]
// CHECK-NEXT: return %[[R]]
func.func @vectors(%n: index, %w: f64, %m: !nb.mat3<f64>, %t: !nb.table<?x!nb.vec3<f64>>)
    -> !nb.vec3<f64> {
  %three = arith.constant 3.0 : f64
  %I = nb.sum source %i in %n : !nb.vec3<f64> {
    %x = nb.lookup %t[%i] : !nb.table<?x!nb.vec3<f64>>
    %xw = nb.scale %x, %w : !nb.vec3<f64>
    %twice = nb.add %xw, %xw : !nb.vec3<f64>
    %six = nb.scale %twice, %three : !nb.vec3<f64>
    %mx = nb.transform %m, %six : !nb.vec3<f64>
    nb.yield %mx : !nb.vec3<f64>
  }
  return %I : !nb.vec3<f64>
}

// x w + y w = (x + y) w; x w + y has no common factor.

// CHECK-LABEL: func.func @terms
// CHECK: %[[SUM:.*]]:2 = nb.sum source
// CHECK: %[[X:.*]] = nb.lookup
// CHECK: %[[Y:.*]] = math.sin %[[X]]
// CHECK: %[[XW:.*]] = arith.mulf %[[X]],
// CHECK: %[[MIXED:.*]] = arith.addf %[[XW]], %[[Y]]
// CHECK: %[[XY:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK: nb.yield %[[XY]], %[[MIXED]]
func.func @terms(%n: index, %w: f64, %t: !nb.table<?xf64>) -> (f64, f64) {
  %I:2 = nb.sum source %i in %n : f64, f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = math.sin %x fastmath<fast> : f64
    %xw = arith.mulf %x, %w fastmath<fast> : f64
    %mixed = arith.addf %xw, %y fastmath<fast> : f64
    %yw = arith.mulf %y, %w fastmath<fast> : f64
    %both = arith.addf %xw, %yw fastmath<fast> : f64
    nb.yield %both, %mixed : f64, f64
  }
  return %I#0, %I#1 : f64, f64
}

// An entry of a table takes its factor along in the vector that does not change.

// CHECK-LABEL: func.func @entries
// CHECK-SAME: (%{{.*}}: index, %[[W:[^ ]*]]: f64, %[[V:[^ ]*]]: !nb.vec3<f64>,
// CHECK: %[[VW:.*]] = nb.scale %[[V]], %[[W]]
// CHECK: %[[SUM:.*]]:2 = nb.sum source
// CHECK-NEXT: %[[X:.*]] = nb.lookup
// CHECK-NEXT: %[[O:.*]] = nb.outer %[[X]], %[[VW]]
// CHECK-NEXT: %[[S:.*]] = nb.scatter %[[O]]
// CHECK-NEXT: nb.yield %[[X]], %[[S]]
// CHECK: nb.scale %[[SUM]]#0, %[[W]]
func.func @entries(%n: index, %w: f64, %v: !nb.vec3<f64>, %t: !nb.table<?x!nb.vec3<f64>>)
    -> (!nb.vec3<f64>, !nb.table<?x!nb.mat3<f64>>) {
  %I:2 = nb.sum source %i in %n : !nb.vec3<f64>, !nb.table<?x!nb.mat3<f64>> {
    %x = nb.lookup %t[%i] : !nb.table<?x!nb.vec3<f64>>
    %xw = nb.scale %x, %w : !nb.vec3<f64>
    %o = nb.outer %xw, %v : !nb.vec3<f64>
    %s = nb.scatter %o at [%i] in (%n) : !nb.table<?x!nb.mat3<f64>>
    nb.yield %xw, %s : !nb.vec3<f64>, !nb.table<?x!nb.mat3<f64>>
  }
  return %I#0, %I#1 : !nb.vec3<f64>, !nb.table<?x!nb.mat3<f64>>
}

// What is needed with its factor as well stays: nothing would be saved.

// CHECK-LABEL: func.func @kept
// CHECK: nb.sum source
// CHECK: %[[XW:.*]] = arith.mulf
// CHECK: %[[S:.*]] = math.sin %[[XW]]
// CHECK: nb.yield %[[XW]], %[[S]]
func.func @kept(%n: index, %w: f64, %t: !nb.table<?xf64>) -> (f64, f64) {
  %I:2 = nb.sum source %i in %n : f64, f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %xw = arith.mulf %x, %w fastmath<fast> : f64
    %s = math.sin %xw fastmath<fast> : f64
    nb.yield %xw, %s : f64, f64
  }
  return %I#0, %I#1 : f64, f64
}

// x w v + y w = (x v + y) w

// CHECK-LABEL: func.func @common
// CHECK-SAME: (%{{.*}}: index, %[[W:[^ ]*]]: f64, %[[V:[^ ]*]]: f64,
// CHECK: nb.sum source
// CHECK: %[[X:.*]] = nb.lookup
// CHECK: %[[Y:.*]] = math.sin %[[X]]
// CHECK: %[[XV:.*]] = arith.mulf %[[X]], %[[V]]
// CHECK: %[[SUM:.*]] = arith.addf %[[XV]], %[[Y]]
// CHECK-NEXT: nb.yield %[[SUM]]
func.func @common(%n: index, %w: f64, %v: f64, %t: !nb.table<?xf64>) -> f64 {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = math.sin %x fastmath<fast> : f64
    %xw = arith.mulf %x, %w fastmath<fast> : f64
    %xwv = arith.mulf %xw, %v fastmath<fast> : f64
    %yw = arith.mulf %y, %w fastmath<fast> : f64
    %both = arith.addf %xwv, %yw fastmath<fast> : f64
    nb.yield %both : f64
  }
  return %I : f64
}

// A structure factor that does not change leaves the square, twice.

// CHECK-LABEL: func.func @intensity
// CHECK-SAME: (%{{.*}}: index, %[[F:[^ ]*]]: f64
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK: %[[L2:.*]] = nb.intensity %[[ONE]], %{{.*}} : f64
// CHECK: nb.yield %[[L2]]
// CHECK: %[[FF:.*]] = arith.mulf %[[F]], %[[F]] fastmath<fast> : f64
// CHECK: arith.mulf %[[SUM]], %[[FF]] fastmath<fast> : f64
func.func @intensity(%n: index, %F: f64, %t: !nb.table<?xf64>) -> f64 {
  %I = nb.sum source %i in %n : f64 {
    %L = nb.lookup %t[%i] : !nb.table<?xf64>
    %x = nb.intensity %F, %L : f64
    nb.yield %x : f64
  }
  return %I : f64
}

// Where both vectors change in the sum there is none that could take the factor along.

// CHECK-LABEL: func.func @changing
// CHECK: nb.sum source
// CHECK: %[[XW:.*]] = nb.scale
// CHECK: %[[O:.*]] = nb.outer %[[XW]]
// CHECK-NEXT: nb.scatter %[[O]]
func.func @changing(%n: index, %w: f64, %t: !nb.table<?x!nb.vec3<f64>>) -> !nb.table<?x!nb.mat3<f64>> {
  %I = nb.sum source %i in %n : !nb.table<?x!nb.mat3<f64>> {
    %x = nb.lookup %t[%i] : !nb.table<?x!nb.vec3<f64>>
    %xw = nb.scale %x, %w : !nb.vec3<f64>
    %o = nb.outer %xw, %x : !nb.vec3<f64>
    %s = nb.scatter %o at [%i] in (%n) : !nb.table<?x!nb.mat3<f64>>
    nb.yield %s : !nb.table<?x!nb.mat3<f64>>
  }
  return %I : !nb.table<?x!nb.mat3<f64>>
}

// 2 x + 2 y = 2 (x + y): what leaves does not stay as well.

// CHECK-LABEL: func.func @constant_of_terms
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK: %[[X:.*]] = nb.lookup
// CHECK: %[[Y:.*]] = math.sin %[[X]]
// CHECK: %[[XY:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT: nb.yield %[[XY]]
// CHECK: %[[TWO:.*]] = arith.constant 2.0
// CHECK: arith.mulf %[[SUM]], %[[TWO]]
func.func @constant_of_terms(%n: index, %t: !nb.table<?xf64>) -> f64 {
  %two = arith.constant 2.0 : f64
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = math.sin %x fastmath<fast> : f64
    %x2 = arith.mulf %x, %two fastmath<fast> : f64
    %y2 = arith.mulf %y, %two fastmath<fast> : f64
    %both = arith.addf %x2, %y2 fastmath<fast> : f64
    nb.yield %both : f64
  }
  return %I : f64
}

// The terms of 2 x w + 3 y w have the factor w in common, and neither constant.

// CHECK-LABEL: func.func @constants
// CHECK-SAME: (%{{.*}}: index, %[[W:[^ ]*]]: f64,
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3.0
// CHECK: %[[SUM:.*]] = nb.sum source
// CHECK: %[[X2:.*]] = arith.mulf %{{.*}}, %[[TWO]]
// CHECK: %[[Y3:.*]] = arith.mulf %{{.*}}, %[[THREE]]
// CHECK: %[[TERM:.*]] = arith.addf %[[X2]], %[[Y3]]
// CHECK: nb.yield %[[TERM]]
// CHECK: %[[R:.*]] = arith.mulf %[[SUM]], %[[W]]
// CHECK: return %[[R]]
func.func @constants(%n: index, %w: f64, %t: !nb.table<?xf64>) -> f64 {
  %two = arith.constant 2.0 : f64
  %three = arith.constant 3.0 : f64
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = math.sin %x fastmath<fast> : f64
    %xw = arith.mulf %x, %w fastmath<fast> : f64
    %yw = arith.mulf %y, %w fastmath<fast> : f64
    %a = arith.mulf %xw, %two fastmath<fast> : f64
    %b = arith.mulf %yw, %three fastmath<fast> : f64
    %term = arith.addf %a, %b fastmath<fast> : f64
    nb.yield %term : f64
  }
  return %I : f64
}
