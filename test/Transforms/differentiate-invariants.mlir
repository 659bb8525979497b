// RUN: nb-opt %s --nb-differentiate="function=gauss mode=vjp parameters=m value=false" | FileCheck %s

// What an expansion computes of things from outside the loop has its derivative there, too: the sum
// yields the adjoints of six coefficients, not those of nine reciprocal components.

// CHECK-LABEL: func.func @gauss_vjp
// CHECK: %[[G:.*]]:6 = nb.sum source %{{.*}} : f64, f64, f64, f64, f64, f64 {
// CHECK-NOT: nb.outer
// CHECK-NOT: nb.row
// CHECK: math.exp
// CHECK: nb.yield
// CHECK: nb.mat
// CHECK: return
func.func @gauss(%m: !nb.mat3<f64> {nb.name = "m"}, %n: !nb.vec3<f64>, %fudge: f64,
                 %t: !nb.table<?x!nb.vec3<f64>>, %count: index) -> f64 {
  %sum = nb.sum source %i in %count : f64 {
    %d = nb.lookup %t[%i] : !nb.table<?x!nb.vec3<f64>>
    %l = nb.lattice_factor gauss fraction %d, %n fudge %fudge reciprocal %m : !nb.vec3<f64>
    nb.yield %l : f64
  }
  return %sum : f64
}
