// RUN: nb-opt %s --split-input-file --verify-diagnostics

func.func @direct_cell_C1(%A: !nb.mat3<f64>, %a: f64) {
  // expected-error@below {{expected the three lengths a, b, c, but got 2}}
  %D = nb.direct_cell %A lengths(%a, %a) : !nb.mat3<f64>
  return
}

// -----

func.func @direct_cell_C1_type(%A: !nb.mat3<f64>, %a: f32) {
  // expected-error@below {{lengths must be 'f64', but got 'f32'}}
  "nb.direct_cell"(%A, %a, %a, %a) : (!nb.mat3<f64>, f32, f32, f32) -> !nb.mat3<f64>
  return
}

// -----

func.func @lattice_factor_C1_square(%h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{'square' takes no fudge factor}}
  %L = nb.lattice_factor square %h, %h fudge %x : !nb.vec3<f64>
  return
}

// -----

func.func @lattice_factor_C1_round(%h: !nb.vec3<f64>) {
  // expected-error@below {{'round' needs a fudge factor}}
  %L = nb.lattice_factor round %h, %h : !nb.vec3<f64>
  return
}

// -----

func.func @lattice_factor_C2(%h: !nb.vec3<f64>, %x: f64, %A: !nb.mat3<f64>) {
  // expected-error@below {{'round' takes no reciprocal vectors}}
  %L = nb.lattice_factor round %h, %h fudge %x reciprocal %A : !nb.vec3<f64>
  return
}

// -----

func.func @lattice_factor_C3_fudge(%h: !nb.vec3<f64>, %x: f32) {
  // expected-error@below {{fudge must be 'f64', but got 'f32'}}
  "nb.lattice_factor"(%h, %h, %x) <{shape = #nb<shape gauss>,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
      : (!nb.vec3<f64>, !nb.vec3<f64>, f32) -> f64
  return
}

// -----

func.func @lattice_factor_C3_reciprocal(%h: !nb.vec3<f64>, %x: f64, %A: !nb.mat3<f32>) {
  // expected-error@below {{reciprocal must be '!nb.mat3<f64>', but got '!nb.mat3<f32>'}}
  "nb.lattice_factor"(%h, %h, %x, %A) <{shape = #nb<shape gauss>,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}>
      : (!nb.vec3<f64>, !nb.vec3<f64>, f64, !nb.mat3<f32>) -> f64
  return
}

// -----

func.func @lattice_factor_C3_cross(%h: !nb.vec3<f64>, %x: f64, %d: !nb.vec3<f32>) {
  // expected-error@below {{cross must be '!nb.vec3<f64>', but got '!nb.vec3<f32>'}}
  "nb.lattice_factor"(%h, %h, %x, %d) <{shape = #nb<shape gauss_matrix>,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}>
      : (!nb.vec3<f64>, !nb.vec3<f64>, f64, !nb.vec3<f32>) -> f64
  return
}

// -----

func.func @lattice_factor_C5_absent(%h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{'gauss_matrix' needs the cross widths}}
  %L = nb.lattice_factor gauss_matrix %h, %h fudge %x : !nb.vec3<f64>
  return
}

// -----

func.func @lattice_factor_C5_present(%h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{'gauss' takes no cross widths}}
  %L = nb.lattice_factor gauss %h, %h cross %h fudge %x : !nb.vec3<f64>
  return
}

// -----

func.func @lattice_factor_C4(%h: !nb.vec3<f32>) {
  // expected-error@below {{result must be 'f32' or f32 in its lanes, but got 'f64'}}
  %L = nb.lattice_factor square %h, %h : !nb.vec3<f32> -> f64
  return
}

// -----

func.func @lattice_factor_syntax(%h: !nb.vec3<f64>) {
  // expected-error@below {{expected square, round, gauss, tophat, gauss_matrix, but got 'cube'}}
  %L = nb.lattice_factor cube %h, %h : !nb.vec3<f64>
  return
}

// -----

func.func @in_grid_C1(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<vector<8xf64>>) {
  // expected-error@below {{result must be 'vector<8xi1>', but got 'i1'}}
  "nb.in_grid"(%F, %h) <{interpolation = #nb<interpolation nearest>}>
      : (!nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>>) -> i1
  return
}

// -----

func.func @in_grid_C2(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) {
  // expected-error@below {{'integral' needs 'nearest': interpolation takes fractional indices}}
  %i = nb.in_grid tricubic integral %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @structure_factor_C1(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<vector<8xf64>>) {
  // expected-error@below {{result must be 'vector<8xf64>' or f32 in its lanes, but got 'f32'}}
  %f = nb.structure_factor nearest %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<vector<8xf64>> -> f32
  return
}

// -----

func.func @structure_factor_C1_default(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %F0: f32) {
  // expected-error@below {{default must be 'f64', but got 'f32'}}
  "nb.structure_factor"(%F, %h, %F0) <{interpolation = #nb<interpolation nearest>}>
      : (!nb.hkl_grid<f64>, !nb.vec3<f64>, f32) -> f64
  return
}

// -----

func.func @structure_factor_C2(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) {
  // expected-error@below {{'integral' needs 'nearest': interpolation takes fractional indices}}
  %f = nb.structure_factor tricubic integral %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @structure_factor_syntax(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) {
  // expected-error@below {{expected 'nearest' or 'tricubic', but got 'linear'}}
  %f = nb.structure_factor linear %F[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}
