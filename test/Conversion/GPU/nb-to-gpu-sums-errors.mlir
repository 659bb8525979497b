// RUN: nb-opt %s --convert-nb-to-loops=concurrent --convert-nb-to-arith --cse --nb-outline-kernel --nb-to-gpu --split-input-file --verify-diagnostics

func.func @grid(%n: index, %x: f64, %F: !nb.hkl_grid<f64>) -> !nb.hkl_grid<f64> {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.hkl_grid<f64> {
    %hkl = nb.vec %x, %x, %x : f64
    // expected-error @below {{the gradient by a grid of structure factors cannot be summed on a GPU, since each pixel adds to other places of it; leave out F there, or use the processor}}
    %t = nb.scatter_factor nearest %x at [%hkl] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
    nb.yield %t : !nb.hkl_grid<f64>
  }
  return %sum : !nb.hkl_grid<f64>
}

// -----

func.func @other_places(%n: index, %x: f64) -> !nb.table<?xf64> {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.table<?xf64> {
    // expected-error @below {{where a pixel adds to depends on the pixel, and on a GPU all threads of a warp have to add to one place}}
    %t = nb.scatter %x at [%f] in (%n) : !nb.table<?xf64>
    nb.yield %t : !nb.table<?xf64>
  }
  return %sum : !nb.table<?xf64>
}
