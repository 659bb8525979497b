// RUN: nb-opt %s --nb-fix-counts="counts=oversample=1,ncells_a=10" --split-input-file | FileCheck %s
// RUN: nb-opt %s --nb-fix-counts="counts=oversample=1,ncells_a=10" --nb-fix-counts="counts=ncells_a=10" --split-input-file | FileCheck %s

// Constants take the place of arguments, which stay, and say so.

// CHECK-LABEL: func.func @counts
// CHECK-SAME: nb.fixed = 1 : index, nb.name = "oversample"
// CHECK-SAME: nb.fixed = 10 : index, nb.name = "ncells_a"
// CHECK-DAG: %[[n:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[a:.*]] = arith.constant 1.000000e+01 : f64
// CHECK: nb.sum subslow {{.*}} in %[[n]] : f64
// CHECK: nb.yield %[[a]]
func.func @counts(%n: index {nb.name = "oversample"}, %a: f64 {nb.name = "ncells_a"}) -> f64 {
  %I = nb.sum subslow %i in %n : f64 {
    nb.yield %a : f64
  }
  return %I : f64
}

// A function that lacks one of them is left as it is.
// CHECK-LABEL: func.func @other
// CHECK-NEXT: return
func.func @other() {
  return
}
