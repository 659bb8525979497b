// RUN: nb-opt %s --nb-close-averages | FileCheck %s
// RUN: nb-opt %s --nb-close-averages --remarks-filter=nb-close-averages 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// With the attribute nb.draws, draws are entries of their tables.

// CHECK-LABEL: @drawn
// CHECK-NOT: nb.deviate
// CHECK: nb.sum draw
// CHECK: nb.lookup
// REMARK: averages are taken by draws: the function has the attribute 'nb.draws'
func.func @drawn(%places: !nb.table<?xf64>, %draws: index) -> f64 attributes {nb.draws} {
  %sum = nb.sum draw %d in %draws : f64 {
    %u = nb.deviate uniform %places[%d] : !nb.table<?xf64>
    nb.yield %u : f64
  }
  return %sum : f64
}

// CHECK-LABEL: @nothing
// REMARK: no sum is over draws of a distribution
func.func @nothing(%x: f64) -> f64 {
  return %x : f64
}
