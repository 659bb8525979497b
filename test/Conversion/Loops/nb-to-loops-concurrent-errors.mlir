// RUN: nb-opt %s --convert-nb-to-loops=warp=32 --verify-diagnostics

func.func @lanes(%n: index, %x: vector<4xf64>) -> tensor<?x?x?xf64> {
  // expected-error @below {{pixels in lanes cannot be computed at the same time too; leave out --nb-vectorize}}
  %a = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(4) : tensor<?x?x?xf64> {
    nb.yield %x : vector<4xf64>
  }
  return %a : tensor<?x?x?xf64>
}
