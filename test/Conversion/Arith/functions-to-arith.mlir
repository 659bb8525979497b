// RUN: nb-opt --convert-nb-to-arith %s | FileCheck %s
// RUN: nb-opt --convert-nb-to-arith --canonicalize %s | FileCheck %s --check-prefix=FOLDED

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
  %s = math.sin %x fastmath<fast> : vector<8xf64>
  %c = math.cos %x fastmath<fast> : vector<8xf64>
  %e = math.exp %y fastmath<fast> : f64
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
  %r = math.rsqrt %safe fastmath<fast> : vector<8xf64>
  return %x, %r : vector<8xf64>, vector<8xf64>
}

// Where no flag allows an approximation, they are those of the math library, right for all numbers.

// CHECK-LABEL: func.func @library
// CHECK: math.sin %{{.*}} : vector<8xf64>
// CHECK: math.cos %{{.*}} fastmath<contract> : vector<8xf64>
// CHECK: math.exp %{{.*}} : vector<8xf64>
// CHECK: %[[ROOT:.*]] = math.sqrt %{{.*}} : vector<8xf64>
// CHECK: arith.divf %{{.*}}, %[[ROOT]] {{.*}} : vector<8xf64>
// CHECK: return
func.func @library(%x: vector<8xf64>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>) {
  %s = math.sin %x : vector<8xf64>
  %c = math.cos %x fastmath<reassoc,contract> : vector<8xf64>
  %e = math.exp %x : vector<8xf64>
  %r = math.rsqrt %x : vector<8xf64>
  return %s, %c, %e, %r : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>
}

// LLVM may fuse products and sums; a rounding, however it is allowed to be approximated, is one.

// CHECK-LABEL: func.func @flags
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f64
// CHECK: arith.addf %{{.*}}, %{{.*}} : f64
// CHECK: math.floor %{{.*}} fastmath<contract> : f64
func.func @flags(%x: f64, %y: f64) -> f64 {
  %xy = arith.mulf %x, %y fastmath<fast> : f64
  %z = arith.addf %xy, %y fastmath<nnan> : f64
  %f = math.floor %z fastmath<fast> : f64
  return %f : f64
}

// CHECK-LABEL: func.func @kinds
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK: %[[A:.*]] = math.absf %[[X]]
// CHECK: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[INFINITE:.*]] = arith.cmpf ole, %[[INF]], %[[A]]
// CHECK: %[[B:.*]] = math.absf %[[X]]
// CHECK: %[[NORMAL:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK: %[[ENOUGH:.*]] = arith.cmpf ole, %[[NORMAL]], %[[B]]
// CHECK: %[[END:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[B]], %[[END]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[ENOUGH]], %[[FINITE]]
// CHECK: return %[[INFINITE]], %[[BOTH]]
func.func @kinds(%x: f32) -> (i1, i1) {
  %infinite = math.isinf %x : f32
  %normal = math.isnormal %x : f32
  return %infinite, %normal : i1, i1
}

// The sine of 0 is 0, its cosine 1.
// FOLDED-LABEL: func.func @both
// FOLDED-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f64
// FOLDED-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// FOLDED-NEXT: return %[[ZERO]], %[[ONE]]
func.func @both() -> (f64, f64) {
  %zero = arith.constant 0.0 : f64
  %s, %c = math.sincos %zero : f64
  return %s, %c : f64, f64
}
