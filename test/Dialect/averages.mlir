// RUN: nb-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @deviates
// CHECK: nb.deviate uniform %{{.*}}[%{{.*}}] : !nb.table<?xf64>
// CHECK: nb.deviate normal inbounds %{{.*}}[%{{.*}}] : !nb.table<?x!nb.vec3<f64>>
func.func @deviates(%uniform: !nb.table<?xf64>, %normal: !nb.table<?x!nb.vec3<f64>>, %i: index)
    -> (f64, !nb.vec3<f64>) {
  %u = nb.deviate uniform %uniform[%i] : !nb.table<?xf64>
  %w = nb.deviate normal inbounds %normal[%i] : !nb.table<?x!nb.vec3<f64>>
  return %u, %w : f64, !nb.vec3<f64>
}

// CHECK-LABEL: @neighbour
// CHECK: nb.neighbour %{{.*}}, %{{.*}} within %{{.*}} : !nb.vec3<f64>
// CHECK: nb.turn %{{.*}} by %{{.*}} : !nb.vec3<f64>
func.func @neighbour(%hkl: !nb.vec3<f64>, %g: !nb.vec3<f64>, %i: index, %around: index)
    -> (!nb.vec3<f64>, !nb.vec3<f64>) {
  %n = nb.neighbour %hkl, %i within %around : !nb.vec3<f64>
  %y = nb.turn %hkl by %g : !nb.vec3<f64>
  return %n, %y : !nb.vec3<f64>, !nb.vec3<f64>
}
