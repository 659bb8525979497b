// RUN: nb-opt %s --convert-nb-to-loops=warp=32 --convert-nb-to-arith --cse --nb-outline-kernel --nb-to-gpu --split-input-file --verify-diagnostics

func.func @other_places(%n: index, %x: f64) -> !nb.table<?xf64> {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.table<?xf64> {
    // expected-error @below {{where a pixel adds to depends on the pixel, and on a GPU all threads of a warp have to add to one place}}
    %t = nb.scatter %x at [%f] in (%n) : !nb.table<?xf64>
    nb.yield %t : !nb.table<?xf64>
  }
  return %sum : !nb.table<?xf64>
}
