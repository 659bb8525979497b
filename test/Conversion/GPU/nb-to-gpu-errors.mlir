// RUN: nb-opt %s --convert-nb-to-loops --convert-nb-to-arith --nb-outline-kernel --nb-to-gpu --split-input-file --verify-diagnostics

// expected-error @below {{has no loops over panels, rows and pixels; run --convert-nb-to-loops and --nb-outline-kernel first}}
func.func @bare_run_tile(%a: !llvm.ptr) {
  return
}

// -----

func.func @lanes(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  // expected-error @below {{pixels are computed in lanes; leave out --nb-vectorize}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) : tensor<?x?x?xf64> {
    %v = vector.broadcast %x : f64 to vector<8xf64>
    nb.yield %v : vector<8xf64>
  }
  return %img : tensor<?x?x?xf64>
}

// -----

// expected-error @+1 {{sums over pixels are not prepared for threads; run --convert-nb-to-loops=warp=32}}
func.func @total(%n: index, %x: f64) -> f64 {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : f64 {
    nb.yield %x : f64
  }
  return %sum : f64
}
