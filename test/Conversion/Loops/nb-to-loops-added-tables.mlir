// RUN: nb-opt --convert-nb-to-loops %s | FileCheck %s

// Two sums of one image add into the same memory; nothing is left of their addition.
// CHECK-LABEL: func.func @image
// CHECK-NOT: nb.add
// CHECK: scf.for
// CHECK-NOT: nb.sum
// CHECK: return
func.func @image(%n: index) -> !nb.table<?xf64> {
  %one = arith.constant 1.0 : f64
  %c1 = arith.constant 1 : index
  %t = nb.image panel %p in %c1, slow %s in %n, fast %f in %n : !nb.table<?xf64> {
    %a = nb.sum source %i in %n : !nb.table<?xf64> {
      %e = nb.scatter %one at [%i] in (%n) : !nb.table<?xf64>
      nb.yield %e : !nb.table<?xf64>
    }
    %b = nb.sum source %i in %n, phi %j in %n : !nb.table<?xf64> {
      %e = nb.scatter %one at [%i] in (%n) : !nb.table<?xf64>
      nb.yield %e : !nb.table<?xf64>
    }
    %c = nb.add %a, %b : !nb.table<?xf64>
    nb.yield %c : !nb.table<?xf64>
  }
  return %t : !nb.table<?xf64>
}
