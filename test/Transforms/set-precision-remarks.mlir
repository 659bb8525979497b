// RUN: nb-opt %s --nb-set-precision=precision=mixed --verify-diagnostics --remarks-filter=nb-set-precision -o /dev/null

func.func @amplitude(%N: !nb.vec3<f64>, %n: index, %size: f64) -> tensor<?x?x?xf64> {
  // expected-remark@below {{2 op(s) compute in f32}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %hkl = nb.vec %x, %size, %size : f64
    %L = nb.lattice_factor square %hkl, %N : !nb.vec3<f64>
    %y = arith.mulf %L, %size : f64
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}

func.func @geometry(%n: index, %size: f64) -> tensor<?x?x?xf64> {
  // expected-remark@below {{nothing here follows from a lattice factor or a structure factor in f64}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}
