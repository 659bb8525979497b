// RUN: nb-opt %s --nb-remove-branches --verify-diagnostics --remarks-filter=nb-remove-branches -o /dev/null

// expected-remark@below {{1 branch(es) became selects}}
func.func @counted(%c: i1, %F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64) -> (f64, f64) {
  %r = scf.if %c -> f64 {
    %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
    scf.yield %f : f64
  } else {
    scf.yield %F0 : f64
  }
  return %r, %F0 : f64, f64
}

// A lookup with a default is a masked load.
// expected-remark@below {{there is no branch}}
func.func @masked(%F: !nb.hkl_grid<f64>, %hkl: !nb.vec3<f64>, %F0: f64) -> f64 {
  %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f : f64
}
