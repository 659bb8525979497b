// RUN: nb-opt %s --nb-erase-probes | FileCheck %s
// RUN: nb-opt %s --nb-erase-probes --verify-diagnostics --remarks-filter=nb-erase-probes -o /dev/null

// Probes go, wherever they stand; what they looked at stays.

// expected-remark@below {{erased 3 probe(s)}}
func.func @probes(%n: index, %w: !nb.table<?xf64>, %c: i1) -> f64 {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %w[%i] : !nb.table<?xf64>
    nb.probe "weight" %x : f64
    scf.if %c {
      nb.probe "chosen" %x : f64
    }
    nb.yield %x : f64
  }
  nb.probe "total" %I : f64
  return %I : f64
}

// CHECK-LABEL: func.func @probes
// CHECK-NOT: nb.probe
// CHECK: nb.yield
// CHECK-NOT: nb.probe
// CHECK: return

// A function without probes is left alone.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: return
// expected-remark@below {{there is no probe}}
func.func @none() {
  return
}
