// RUN: nb-run --no-fuse --arg n=3 %s | FileCheck %s

// Entry i gets i from one nb.scatter and 1 from the other, and 1/2 from the sum inside, which goes
// over two terms.
// CHECK: result 0: 3, sum 9, from 2 to 4
func.func @f(%n: index {nb.name = "n"}) -> !nb.table<?xf64> {
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %c2 = arith.constant 2 : index
  %t = nb.sum source %i in %n : !nb.table<?xf64> {
    %j = arith.index_cast %i : index to i64
    %x = arith.sitofp %j : i64 to f64
    %a = nb.scatter %x at [%i] in (%n) : !nb.table<?xf64>
    %b = nb.scatter %one at [%i] in (%n) : !nb.table<?xf64>
    %c = nb.sum phi %k in %c2 : !nb.table<?xf64> {
      %d = nb.scatter %half at [%i] in (%n) : !nb.table<?xf64>
      nb.yield %d : !nb.table<?xf64>
    }
    %ab = nb.add %a, %b : !nb.table<?xf64>
    %abc = nb.add %ab, %c : !nb.table<?xf64>
    nb.yield %abc : !nb.table<?xf64>
  }
  return %t : !nb.table<?xf64>
}
