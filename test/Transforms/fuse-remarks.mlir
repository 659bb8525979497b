// RUN: nb-opt %s --nb-fuse --verify-diagnostics --remarks-filter=nb-fuse -o /dev/null

// They were equal.
// expected-remark@below {{dropped 2 result(s)}}
func.func @merged(%n: index, %t: !nb.table<?xf64>) -> (f64, f64, f64) {
  // The first merge makes two results of two sums, the second one three.
  // expected-remark@below {{merged two sums: 2 results in one sweep}}
  // expected-remark@below {{merged two sums: 3 results in one sweep}}
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %J = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %K = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  return %I, %J, %K : f64, f64, f64
}

// A mean, then deviations from it: two sweeps.

// expected-remark@below {{nothing was merged or dropped among 2 loop(s)}}
func.func @depends(%n: index, %t: !nb.table<?xf64>) -> f64 {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  %minus = arith.negf %I : f64
  // expected-remark@below {{not merged with the loop over the same dimensions before it: it uses that one's result}}
  %J = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %d = arith.addf %x, %minus : f64
    nb.yield %d : f64
  }
  return %J : f64
}

// expected-remark@below {{nothing was merged or dropped among 2 loop(s)}}
func.func @not_pure(%n: index, %m: memref<f64>, %t: !nb.table<?xf64>) -> (f64, f64) {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  memref.store %I, %m[] : memref<f64>
  %w = memref.load %m[] : memref<f64>
  // expected-remark@below {{'memref.load' would have to move and has side effects}}
  %J = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %xw = arith.mulf %x, %w : f64
    nb.yield %xw : f64
  }
  return %I, %J : f64, f64
}

// expected-remark@below {{nothing was merged or dropped among 2 loop(s)}}
func.func @impure_body(%n: index, %m: memref<f64>, %t: !nb.table<?xf64>) -> (f64, f64) {
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  memref.store %I, %m[] : memref<f64>
  // expected-remark@below {{'nb.sum' would have to move and has side effects}}
  %J = nb.sum source %i in %n : f64 {
    %x = memref.load %m[] : memref<f64>
    nb.yield %x : f64
  }
  return %I, %J : f64, f64
}

// One of two equal results goes, and so does one that nothing uses.

// expected-remark@below {{dropped 2 result(s) of loops that nothing used or that another one equalled}}
func.func @dropped(%n: index, %t: !nb.table<?xf64>) -> (f64, f64) {
  %I:3 = nb.sum source %i in %n : f64, f64, f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = arith.negf %x : f64
    nb.yield %x, %x, %y : f64, f64, f64
  }
  return %I#0, %I#1 : f64, f64
}
