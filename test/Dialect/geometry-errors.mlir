// RUN: nb-opt %s --split-input-file --verify-diagnostics

func.func @vec_C1(%x: f64, %y: f32) {
  // expected-error@below {{failed to verify that all of {x, y, z} have same type}}
  "nb.vec"(%x, %y, %x) : (f64, f32, f64) -> !nb.vec3<f64>
  return
}

// -----

func.func @component_C1(%v: !nb.vec3<f64>) {
  // expected-error@below {{attribute 'index' failed to satisfy constraint}}
  %x = nb.component %v[3] : !nb.vec3<f64>
  return
}

// -----

func.func @mat_C1(%x: f64) {
  // expected-error@below {{expected 9 elements, but got 2}}
  %m = nb.mat %x, %x : !nb.mat3<f64>
  return
}

// -----

func.func @mat_C1_type(%x: f32) {
  // expected-error@below {{elements must be 'f64', but are 'f32'}}
  "nb.mat"(%x, %x, %x, %x, %x, %x, %x, %x, %x)
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32) -> !nb.mat3<f64>
  return
}

// -----

func.func @mat_syntax(%x: f64) {
  // expected-error@below {{expected an !nb.mat3 type, but got 'f64'}}
  %m = nb.mat %x : f64
  return
}

// -----

func.func @element_C1(%m: !nb.mat3<f64>) {
  // expected-error@below {{attribute 'column' failed to satisfy constraint}}
  %x = nb.element %m[0, 3] : !nb.mat3<f64>
  return
}

// -----

func.func @row_C1(%m: !nb.mat3<f64>) {
  // expected-error@below {{attribute 'index' failed to satisfy constraint}}
  %x = nb.row %m[3] : !nb.mat3<f64>
  return
}

// -----

func.func @splat_C1_lanes(%v: !nb.vec3<vector<8xf64>>) {
  // expected-error@below {{operand must be without lanes, but got '!nb.vec3<vector<8xf64>>'}}
  %w = nb.splat %v : !nb.vec3<vector<8xf64>> to !nb.vec3<vector<8xf64>>
  return
}

// -----

func.func @splat_C1_kind(%v: !nb.vec3<f64>) {
  // expected-error@below {{result must be '!nb.vec3<f64>' over lanes, but got '!nb.vec3<vector<8xf32>>'}}
  %w = nb.splat %v : !nb.vec3<f64> to !nb.vec3<vector<8xf32>>
  return
}

// -----

func.func @detector_coordinate_C1(%i: index, %size: vector<8xf64>) {
  // expected-error@below {{index operands must have the lanes of the result 'vector<8xf64>', but are 'index'}}
  %F = nb.detector_coordinate %i, %i, %i, %size : index, vector<8xf64>
  return
}

// -----

func.func @scale_types(%v: !nb.vec3<f64>, %s: f32) {
  // expected-error@below {{'factor' has the element type of 'vector'}}
  "nb.scale"(%v, %s) : (!nb.vec3<f64>, f32) -> !nb.vec3<f64>
  return
}
