// RUN: nb-opt %s --nb-insert-probes="names=L,none*" --verify-diagnostics --remarks-filter=nb-insert-probes -o /dev/null

// expected-remark@below {{inserted 1 probe(s)}}
// expected-remark@below {{'none*' matches no value}}
func.func @one(%n: index, %w: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %t = arith.mulf %w, %w : f64 loc("L")
    nb.yield %t : f64
  }
  return %img : tensor<?x?x?xf64>
}
