// RUN: nb-opt %s --split-input-file --verify-diagnostics

func.func @sincg_C1(%x: f64) {
  // expected-error@below {{attribute 'order' failed to satisfy constraint}}
  %s = nb.sincg %x, %x order -1 : f64
  return
}

// -----

func.func @grating_C1(%v: !nb.vec3<f64>) {
  // expected-error@below {{order and cells must be three numbers from 0 on, but got [1, 0]}}
  %s = nb.grating %v, %v order [1, 0] : !nb.vec3<f64>
  return
}

// -----

func.func @grating_C1_cells(%v: !nb.vec3<f64>) {
  // expected-error@below {{order and cells must be three numbers from 0 on, but got [1, -1, 0]}}
  %s = nb.grating %v, %v cells [1, -1, 0] : !nb.vec3<f64>
  return
}

// -----

func.func @grating_C2(%v: !nb.vec3<f32>) {
  // expected-error@below {{result must be 'f32' or f32 in its lanes, but got 'f64'}}
  %s = nb.grating %v, %v : !nb.vec3<f32> -> f64
  return
}

// -----

func.func @ball_C1(%x: f64) {
  // expected-error@below {{attribute 'order' failed to satisfy constraint}}
  %s = nb.ball %x order -2 : f64
  return
}

// -----

func.func @structure_factor_C3(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) {
  // expected-error@below {{order must be three numbers from 0 to 3, but got [0, 4, 0]}}
  %f = nb.structure_factor tricubic %F[%h] order [0, 4, 0] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @structure_factor_C3_nearest(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) {
  // expected-error@below {{'order' needs 'tricubic': the derivative of 'nearest' is 0}}
  %f = nb.structure_factor nearest %F[%h] order [1, 0, 0] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @structure_factor_C3_default(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{'order' needs an op without 'default'}}
  %f = nb.structure_factor tricubic %F[%h] default %x order [1, 0, 0]
      : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @image_C3_sum(%n: index, %x: f64) {
  // expected-error@below {{body must yield ('!nb.vec3<f64>'), but yields ('f64')}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.vec3<f64> {
    // expected-note@below {{yielded here}}
    nb.yield %x : f64
  }
  return
}

// -----

func.func @image_C4_sum(%n: index, %x: vector<4xf64>) {
  // expected-error@below {{a sum over pixels has no lanes, but got 'vector<4xf64>'}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(4) : vector<4xf64> {
    nb.yield %x : vector<4xf64>
  }
  return
}

// -----

func.func @first_C4(%n: index, %c: i1, %x: f64, %y: vector<4xf64>) {
  // expected-error@below {{results must have the same lanes, but got ('f64', 'vector<4xf64>')}}
  %a, %b = nb.first source %i in %n : f64, vector<4xf64> {
    nb.yield %c, %x, %y : i1, f64, vector<4xf64>
  }
  return
}

// -----

func.func @first_C4_none(%n: index, %c: i1) {
  // expected-error@below {{expected at least one result}}
  "nb.first"(%n) <{dimensions = [#nb.dim<source>]}> ({
  ^bb0(%i: index):
    nb.yield %c : i1
  }) : (index) -> ()
  return
}

// -----

func.func @scatter_C1(%n: index, %x: f64) {
  %t = nb.sum source %i in %n : !nb.table<?x?xf64> {
    // expected-error@below {{expected 2 indices and sizes for '!nb.table<?x?xf64>', but got 2 and 1}}
    %e = nb.scatter %x at [%i, %i] in (%n) : !nb.table<?x?xf64>
    nb.yield %e : !nb.table<?x?xf64>
  }
  return
}

// -----

func.func @scatter_C2(%n: index, %x: f32) {
  %t = nb.sum source %i in %n : !nb.table<?xf64> {
    // expected-error@below {{value must be a float, vector or matrix, the table's element 'f64' or lanes of it, but got 'f32'}}
    %e = nb.scatter %x at [%i] in (%n) : f32 to !nb.table<?xf64>
    nb.yield %e : !nb.table<?xf64>
  }
  return
}

// -----

func.func @scatter_C3(%n: index, %i: index, %x: f64) -> !nb.table<?xf64> {
  // expected-error@below {{only the nb.yield of an nb.sum or nb.image may use the result}}
  %e = nb.scatter %x at [%i] in (%n) : !nb.table<?xf64>
  // expected-note@below {{used here}}
  return %e : !nb.table<?xf64>
}

// -----

func.func @read_pixel_C1(%i: index, %image: tensor<?x?xf64>) {
  // expected-error@below {{image must be a rank-3 tensor of unknown sizes, of f64 or f32, but got 'tensor<?x?xf64>'}}
  %x = nb.read_pixel %image[%i, %i, %i] : tensor<?x?xf64>
  return
}

// -----

func.func @read_pixel_C2(%i: index, %fast: vector<4xindex>, %image: tensor<?x?x?xf64>) {
  // expected-error@below {{result must be 'vector<4xf64>', but got 'vector<4xf32>'}}
  %x = nb.read_pixel %image[%i, %i, %fast] : tensor<?x?x?xf64> to vector<4xf32>
  return
}

// -----

func.func @scatter_factor_C1(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %x: f32) {
  // expected-error@below {{value must be 'f64', but got 'f32'}}
  %e = "nb.scatter_factor"(%x, %h, %F) <{interpolation = #nb<interpolation nearest>}>
      : (f32, !nb.vec3<f64>, !nb.hkl_grid<f64>) -> !nb.hkl_grid<f64>
  return
}

// -----

func.func @scatter_factor_C1_result(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{result must be '!nb.hkl_grid<f64>', but got '!nb.hkl_grid<f32>'}}
  %e = "nb.scatter_factor"(%x, %h, %F) <{interpolation = #nb<interpolation nearest>}>
      : (f64, !nb.vec3<f64>, !nb.hkl_grid<f64>) -> !nb.hkl_grid<f32>
  return
}

// -----

func.func @scatter_factor_C2(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{'integral' needs 'nearest': interpolation takes fractional indices}}
  %e = nb.scatter_factor tricubic integral %x at [%h] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @scatter_factor_C3(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{'order' needs 'tricubic': the derivative of 'nearest' is 0}}
  %e = nb.scatter_factor nearest %x at [%h] like %F order [1, 0, 0]
      : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @scatter_factor_C4(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>, %x: f64) {
  // expected-error@below {{only the nb.yield of an nb.sum or nb.image may use the result}}
  %e = nb.scatter_factor nearest %x at [%h] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
  // expected-note@below {{used here}}
  %f = nb.structure_factor nearest %e[%h] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return
}

// -----

func.func @add_C1(%t: !nb.table<?xf64>) -> !nb.table<?xf64> {
  // expected-error@below {{only the nb.yield of an nb.sum or nb.image may use the result}}
  %s = nb.add %t, %t : !nb.table<?xf64>
  // expected-note@below {{used here}}
  return %s : !nb.table<?xf64>
}
