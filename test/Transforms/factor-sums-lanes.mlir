// RUN: nb-opt %s --nb-factor-sums | FileCheck %s

// A number that does not change has no lanes, and is no factor of what has.

// CHECK-LABEL: func.func @lanes
// CHECK: nb.sum source
// CHECK: %[[TWICE:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf64>
// CHECK: nb.yield %[[TWICE]] : vector<4xf64>
// CHECK-NOT: nb.scale
func.func @lanes(%n: index, %t: !nb.table<?xf64>, %w: vector<4xf64>) -> vector<4xf64> {
  %two = arith.constant dense<2.0> : vector<4xf64>
  %I = nb.sum source %i in %n : vector<4xf64> {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %lanes = vector.broadcast %x : f64 to vector<4xf64>
    %y = arith.addf %lanes, %lanes : vector<4xf64>
    %twice = arith.mulf %y, %two : vector<4xf64>
    nb.yield %twice : vector<4xf64>
  }
  return %I : vector<4xf64>
}
