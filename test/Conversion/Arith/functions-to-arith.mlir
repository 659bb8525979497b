// RUN: nb-opt --convert-nb-to-arith %s | FileCheck %s

// A kernel calls no math library: sine, cosine, exponential and error functions become polynomials, in
// lanes too.
// CHECK-LABEL: func.func @functions
// CHECK-NOT: math.sin
// CHECK-NOT: math.cos
// CHECK-NOT: math.e
// CHECK: arith.mulf {{.*}} : vector<8xf64>
// CHECK: return
func.func @functions(%x: vector<8xf64>, %y: f64)
    -> (vector<8xf64>, vector<8xf64>, f64, vector<8xf64>, f64) {
  %s = math.sin %x : vector<8xf64>
  %c = math.cos %x : vector<8xf64>
  %e = math.exp %y : f64
  %f = math.erf %x : vector<8xf64>
  %g = math.erfc %y : f64
  return %s, %c, %e, %f, %g : vector<8xf64>, vector<8xf64>, f64, vector<8xf64>, f64
}

// The reciprocal root of a squared length that may be 0 is that which normalizing the vector takes.
// CHECK-LABEL: func.func @length
// CHECK-NOT: math.
// CHECK-NOT: arith.divf
// CHECK: arith.shrui
// CHECK: arith.select
// CHECK-NOT: arith.divf
// CHECK: return
func.func @length(%v: !nb.vec3<vector<8xf64>>) -> (vector<8xf64>, vector<8xf64>) {
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %one = arith.constant dense<1.0> : vector<8xf64>
  %u = nb.normalize %v : !nb.vec3<vector<8xf64>>
  %x = nb.component %u[0] : !nb.vec3<vector<8xf64>>
  %l2 = nb.dot %v, %v : !nb.vec3<vector<8xf64>>
  %none = arith.cmpf oeq, %l2, %zero : vector<8xf64>
  %safe = arith.select %none, %one, %l2 : vector<8xi1>, vector<8xf64>
  %r = math.rsqrt %safe : vector<8xf64>
  return %x, %r : vector<8xf64>, vector<8xf64>
}
