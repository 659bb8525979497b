// RUN: nb-opt --convert-nb-to-arith %s | FileCheck %s

// A kernel calls no math library: sine, cosine and exponential become polynomials, in lanes too.
// CHECK-LABEL: func.func @functions
// CHECK-NOT: math.sin
// CHECK-NOT: math.cos
// CHECK-NOT: math.exp
// CHECK: arith.mulf {{.*}} : vector<8xf64>
// CHECK: return
func.func @functions(%x: vector<8xf64>, %y: f64) -> (vector<8xf64>, vector<8xf64>, f64) {
  %s = math.sin %x : vector<8xf64>
  %c = math.cos %x : vector<8xf64>
  %e = math.exp %y : f64
  return %s, %c, %e : vector<8xf64>, vector<8xf64>, f64
}
