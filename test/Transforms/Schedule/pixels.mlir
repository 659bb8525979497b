// One index is peeled and the other is not; four pixels are computed at once.
// RUN: nb-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: @image
// CHECK: nb.image {{.*}} lanes(4)
// CHECK: %[[N:.*]] = nb.nearest_miller_index %hkl
// CHECK: %[[D:.*]] = nb.sub %hkl, %[[N]]
// CHECK: nb.lattice_factor square fraction %[[D]]
// CHECK-NOT: nearest_miller_index
// CHECK: nb.lattice_factor square %other
func.func @image(%A: !nb.mat3<f64>, %axis: !nb.vec3<f64>, %cells: !nb.vec3<f64>, %n: index) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %x = arith.sitofp %i : i64 to f64
    %v = nb.scale %axis, %x : !nb.vec3<f64>
    %hkl = nb.transform %A, %v : !nb.vec3<f64>
    %other = nb.transform %A, %hkl : !nb.vec3<f64>
    %a = nb.lattice_factor square %hkl, %cells : !nb.vec3<f64>
    %b = nb.lattice_factor square %other, %cells : !nb.vec3<f64>
    %I = arith.mulf %a, %b : f64
    nb.yield %I : f64
  }
  return %image : tensor<?x?x?xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op) {
    %hkl = transform.nb.match value "hkl" in %program : (!transform.any_op) -> !transform.any_op
    transform.nb.peel %hkl : !transform.any_op
    %image = transform.nb.match op "nb.image" in %program : (!transform.any_op) -> !transform.any_op
    %tiled = transform.nb.tile_pixels %image by 4 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
