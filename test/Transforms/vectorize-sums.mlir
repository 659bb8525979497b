// RUN: nb-opt %s --nb-vectorize="width=4" | FileCheck %s

// Sums over pixels: what is added has lanes, where it is added has not, and results have none.

// CHECK-LABEL: func.func @sums
// CHECK: nb.image {{.*}} lanes(4) : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
// CHECK: nb.read_pixel %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?x?xf64> to vector<4xf64>
// CHECK: nb.sum mosaic %[[J:.*]] in %[[N:.*]] : !nb.vec3<vector<4xf64>>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
// CHECK: nb.scatter %{{.*}} at [%[[J]]] in (%[[N]]) : vector<4xf64> to !nb.table<?xf64>
// CHECK: nb.scatter_factor nearest %{{.*}} at [%{{.*}}] like %{{.*}} : !nb.hkl_grid<f64>, !nb.vec3<vector<4xf64>>
// CHECK: nb.yield %{{.*}} : !nb.vec3<vector<4xf64>>, !nb.table<?xf64>, !nb.hkl_grid<f64>
// CHECK: nb.yield %{{.*}} : vector<4xf64>, !nb.vec3<vector<4xf64>>, !nb.table<?xf64>, !nb.hkl_grid<f64>
func.func @sums(%n: index, %u: !nb.vec3<f64>, %x: f64, %F: !nb.hkl_grid<f64>,
                %c: tensor<?x?x?xf64>)
    -> (f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>) {
  %r:4 = nb.image panel %p in %n, slow %s in %n, fast %f in %n
      : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
    %v = nb.read_pixel %c[%p, %s, %f] : tensor<?x?x?xf64>
    %a:3 = nb.sum mosaic %j in %n : !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
      %t = nb.scatter %x at [%j] in (%n) : !nb.table<?xf64>
      %w = nb.scale %u, %v : !nb.vec3<f64>
      %g = nb.scatter_factor nearest %v at [%u] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
      nb.yield %w, %t, %g : !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
    }
    nb.yield %v, %a#0, %a#1, %a#2 : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
  }
  return %r#0, %r#1, %r#2, %r#3 : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
}
