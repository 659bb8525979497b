// RUN: nb-opt %s --nb-peel-miller-index --verify-diagnostics --remarks-filter=nb-peel-miller-index -o /dev/null

func.func @peeled(%D: !nb.mat3<f64>, %q: !nb.vec3<f64>, %n: !nb.vec3<f64>,
                  %F: !nb.hkl_grid<f64>) -> (f64, f64) {
  // expected-remark@below {{peeled a Miller index: 1 lattice factor(s) take its fraction, 1 lookup(s) its reflection}}
  %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<f64>
  %f = nb.structure_factor nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %L, %f : f64, f64
}

// Without a lattice factor beside it there is no peeled index to share.

func.func @alone(%hkl: !nb.vec3<f64>, %F: !nb.hkl_grid<f64>) -> f64 {
  // expected-remark@below {{this lookup rounds its index itself: no lattice factor takes the same index}}
  %f = nb.structure_factor nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f : f64
}
