// RUN: nb-opt %s --convert-nb-to-arith --cse --split-input-file | FileCheck %s

// Known whole numbers of cells: polynomials in cosines, no division and no rounding. Five cells take
// one step of the recurrence, ten the same at twice the angle.

// CHECK-LABEL: func.func @known
// CHECK-NOT: arith.divf
// CHECK-NOT: math.roundeven
// CHECK: return
func.func @known(%d: !nb.vec3<vector<8xf64>>) -> vector<8xf64> {
  %a = arith.constant dense<1.0> : vector<8xf64>
  %b = arith.constant dense<5.0> : vector<8xf64>
  %c = arith.constant dense<10.0> : vector<8xf64>
  %n = nb.vec %a, %b, %c : vector<8xf64>
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<vector<8xf64>>
  return %L : vector<8xf64>
}

// -----

// One axis that is not known whole keeps its quotient; so does one with too many steps.

// CHECK-LABEL: func.func @mixed_axes
// CHECK-COUNT-1: math.roundeven
// CHECK-NOT: math.roundeven
// CHECK: arith.divf
// CHECK-LABEL: func.func @fraction_of_a_cell
// CHECK-COUNT-3: math.roundeven
// CHECK: arith.divf
// CHECK-LABEL: func.func @too_many
// CHECK-COUNT-3: math.roundeven
func.func @mixed_axes(%d: !nb.vec3<f64>, %nc: f64) -> f64 {
  %two = arith.constant 2.0 : f64
  %n = nb.vec %two, %two, %nc : f64
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<f64>
  return %L : f64
}
func.func @fraction_of_a_cell(%d: !nb.vec3<f64>) -> f64 {
  %half = arith.constant 2.5 : f64
  %n = nb.vec %half, %half, %half : f64
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<f64>
  return %L : f64
}
func.func @too_many(%d: !nb.vec3<f64>) -> f64 {
  %many = arith.constant 37.0 : f64
  %n = nb.vec %many, %many, %many : f64
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<f64>
  return %L : f64
}

// -----

// In single precision rounding of the cosines limits it to eight cells.

// CHECK-LABEL: func.func @eight
// CHECK-NOT: arith.divf
// CHECK-LABEL: func.func @nine
// CHECK: arith.divf
func.func @eight(%hkl: !nb.vec3<vector<16xf64>>) -> vector<16xf32> {
  %c = arith.constant dense<8.0> : vector<16xf64>
  %n = nb.vec %c, %c, %c : vector<16xf64>
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %L : vector<16xf32>
}
func.func @nine(%hkl: !nb.vec3<vector<16xf64>>) -> vector<16xf32> {
  %c = arith.constant dense<9.0> : vector<16xf64>
  %n = nb.vec %c, %c, %c : vector<16xf64>
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %L : vector<16xf32>
}

// -----

// The sign of a round crystal's factor is left out where it is squared.

// CHECK-LABEL: func.func @squared
// CHECK-NOT: arith.shli
// CHECK-LABEL: func.func @with_sign
// CHECK: arith.shli
func.func @squared(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>, %fudge: f64, %F: f64) -> f64 {
  %L = nb.lattice_factor round fraction %d, %n fudge %fudge : !nb.vec3<f64>
  %I = nb.intensity %F, %L : f64
  return %I : f64
}
func.func @with_sign(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>, %fudge: f64) -> f64 {
  %L = nb.lattice_factor round fraction %d, %n fudge %fudge : !nb.vec3<f64>
  return %L : f64
}
