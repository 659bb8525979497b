// RUN: nb-opt %s --convert-nb-to-arith --cse --split-input-file | FileCheck %s -enable-var-scope

// A grating and its six first derivatives share one division, six sines and six cosines: polynomials
// whose evaluation begins with these coefficients.

// CHECK-LABEL: func.func @shared
// CHECK: %[[SINE:.*]] = arith.constant -2.11{{.*}}E-5 : f64
// CHECK-COUNT-6: arith.mulf %[[SINE]],
// CHECK-NOT: arith.mulf %[[SINE]],
// CHECK: arith.divf
// CHECK: %[[COSINE:.*]] = arith.constant 1.23{{.*}}E-5 : f64
// CHECK-NOT: arith.divf
// CHECK-COUNT-6: arith.mulf %[[COSINE]],
// CHECK-NOT: arith.mulf %[[COSINE]],
// CHECK-NOT: arith.divf
// CHECK: return
func.func @shared(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>)
    -> (f64, f64, f64, f64, f64, f64, f64) {
  %v = nb.grating %d, %n : !nb.vec3<f64>
  %h = nb.grating %d, %n order [1, 0, 0] : !nb.vec3<f64>
  %k = nb.grating %d, %n order [0, 1, 0] : !nb.vec3<f64>
  %l = nb.grating %d, %n order [0, 0, 1] : !nb.vec3<f64>
  %a = nb.grating %d, %n cells [1, 0, 0] : !nb.vec3<f64>
  %b = nb.grating %d, %n cells [0, 1, 0] : !nb.vec3<f64>
  %c = nb.grating %d, %n cells [0, 0, 1] : !nb.vec3<f64>
  return %v, %h, %k, %l, %a, %b, %c : f64, f64, f64, f64, f64, f64, f64
}

// -----

// The value alone has no cosines, and its sign is that of half turns taken off.

// CHECK-LABEL: func.func @value
// CHECK-NOT: E-5 : f64
// CHECK: arith.constant -2.11{{.*}}E-5 : f64
// CHECK-NOT: E-5 : f64
// CHECK: llvm.intr.fmuladd
// CHECK: arith.xori
// CHECK: arith.shli
// CHECK: return
func.func @value(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>) -> f64 {
  %v = nb.grating %d, %n : !nb.vec3<f64>
  return %v : f64
}

// -----

// Lanes of single precision: signs are 32 bits wide, and three sines multiply to a normal number.

// CHECK-LABEL: func.func @single
// CHECK: arith.constant dense<1.000000e-10> : vector<16xf32>
// CHECK: arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: arith.constant dense<31> : vector<16xi32>
func.func @single(%d: !nb.vec3<vector<16xf32>>, %n: !nb.vec3<vector<16xf32>>) -> vector<16xf32> {
  %v = nb.grating %d, %n order [0, 1, 0] : !nb.vec3<vector<16xf32>>
  return %v : vector<16xf32>
}

// -----

// In single precision of distances in double: half turns are counted and taken off in f64, the rest
// and the distance are rounded, and nothing in f64 follows.

// CHECK-LABEL: func.func @narrowing
// CHECK-COUNT-3: llvm.intr.fmuladd{{.*}} : {{.*}}vector<16xf64>
// CHECK-NOT: arith.{{mulf|addf|divf}} {{.*}} : vector<16xf64>
// CHECK: arith.divf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.{{mulf|addf|divf}} {{.*}} : vector<16xf64>
// CHECK: arith.trunci {{.*}} : vector<16xi64> to vector<16xi32>
// CHECK-NOT: arith.{{mulf|addf|divf}} {{.*}} : vector<16xf64>
// CHECK: return
func.func @narrowing(%d: !nb.vec3<vector<16xf64>>, %n: !nb.vec3<vector<16xf64>>) -> vector<16xf32> {
  %v = nb.grating %d, %n order [0, 1, 0] : !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %v : vector<16xf32>
}

// -----

// Any order; no branch, no loop, no call.

// CHECK-LABEL: func.func @any_order
// CHECK-NOT: {{(nb|scf|cf)[.]|call}}
// CHECK: return
func.func @any_order(%x: f64, %n: f64) -> (f64, f64) {
  %s = nb.sincg %x, %n order 5 cells 2 : f64
  %b = nb.ball %x order 6 : f64
  return %s, %b : f64, f64
}

// -----

// A series where u is small, else sine and cosine of its root, which is kept away from 0.

// CHECK-LABEL: func.func @ball
// CHECK-SAME: (%[[U:.*]]: f64)
// CHECK: %[[ZERO:.*]] = arith.cmpf olt, %[[U]], %{{.*}} : f64
// CHECK: %[[KEPT:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[U]] : f64
// CHECK: math.sqrt %[[KEPT]]
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[U]], %{{.*}} : f64
// CHECK: arith.select %[[SMALL]], %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: return
func.func @ball(%u: f64) -> f64 {
  %b = nb.ball %u order 1 : f64
  return %b : f64
}

// -----

// The value and its slope share one series: that of -3/2 j2(r) / r^2, which begins with -1/10.

// CHECK-LABEL: func.func @ball_and_slope
// CHECK: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK: arith.constant -1.000000e-01 : f64
// CHECK-NOT: {{math.sqrt|-1.000000e-01}}
// CHECK: return
func.func @ball_and_slope(%u: f64) -> (f64, f64) {
  %b = nb.ball %u : f64
  %s = nb.ball %u order 1 : f64
  return %b, %s : f64, f64
}

// -----

// CHECK-LABEL: func.func @matrices
// CHECK-COUNT-9: arith.subf
// CHECK-NOT: = nb.
// CHECK: return
func.func @matrices(%u: !nb.vec3<f64>, %m: !nb.mat3<f64>, %s: f64) -> f64 {
  %o = nb.outer %u, %u : !nb.vec3<f64>
  %a = nb.add %o, %m : !nb.mat3<f64>
  %b = nb.sub %a, %o : !nb.mat3<f64>
  %c = nb.scale %b, %s : !nb.mat3<f64>
  %f = nb.frobenius %c, %m : !nb.mat3<f64>
  return %f : f64
}

// -----

// The third derivative of a cubic's weights is constant.

// CHECK-LABEL: func.func @interpolation
// CHECK-DAG: arith.constant -1.000000e+00 : f64
// CHECK-DAG: arith.constant 3.000000e+00 : f64
// CHECK: vector.from_elements
func.func @interpolation(%F: !nb.hkl_grid<f64>, %q: !nb.vec3<f64>) -> f64 {
  %f = nb.structure_factor tricubic %F[%q] order [3, 0, 0] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %f : f64
}

// -----

// A gradient times a number: the number goes to the divisor that all three have, and each component
// is multiplied twice more.

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: %[[G:[^ ]*]]: f64)
// CHECK: arith.mulf %{{.*}}, %[[G]]
// CHECK-NOT: arith.mulf %{{.*}}, %[[G]]
// CHECK: return
func.func @scaled(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>, %g: f64) -> f64 {
  %h = nb.grating %d, %n order [1, 0, 0] : !nb.vec3<f64>
  %k = nb.grating %d, %n order [0, 1, 0] : !nb.vec3<f64>
  %l = nb.grating %d, %n order [0, 0, 1] : !nb.vec3<f64>
  %v = nb.vec %h, %k, %l : f64
  %s = nb.scale %v, %g : !nb.vec3<f64>
  %x = nb.dot %s, %n : !nb.vec3<f64>
  return %x : f64
}
