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

// What is the same in all lanes is spread before it is added up.

// CHECK-LABEL: func.func @same_in_all_lanes
// CHECK: nb.sum source %{{.*}} : vector<4xf64> {
// CHECK: %[[W:.*]] = nb.lookup
// CHECK: %[[LANES:.*]] = vector.broadcast %[[W]] : f64 to vector<4xf64>
// CHECK: nb.yield %[[LANES]] : vector<4xf64>
func.func @same_in_all_lanes(%n: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %n : f64 {
      %w = nb.lookup %t[%i] : !nb.table<?xf64>
      nb.yield %w : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}
