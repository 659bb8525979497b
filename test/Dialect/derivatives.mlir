// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @matrices
// CHECK: nb.outer %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.add %{{.*}}, %{{.*}} : !nb.mat3<f64>
// CHECK-NEXT: nb.sub %{{.*}}, %{{.*}} : !nb.mat3<f64>
// CHECK-NEXT: nb.scale %{{.*}}, %{{.*}} : !nb.mat3<f64>
// CHECK-NEXT: nb.frobenius %{{.*}}, %{{.*}} : !nb.mat3<f64>
func.func @matrices(%u: !nb.vec3<f64>, %m: !nb.mat3<f64>, %x: f64) -> f64 {
  %outer = nb.outer %u, %u : !nb.vec3<f64>
  %a = nb.add %outer, %m : !nb.mat3<f64>
  %b = nb.sub %a, %m : !nb.mat3<f64>
  %c = nb.scale %b, %x : !nb.mat3<f64>
  %f = nb.frobenius %c, %m : !nb.mat3<f64>
  return %f : f64
}

// CHECK-LABEL: func.func @shapes
// CHECK: nb.sincg %{{.*}}, %{{.*}} order 2 cells 1 : f64
// CHECK-NEXT: nb.sincg %{{.*}}, %{{.*}} cells 1 : f64
// CHECK-NEXT: nb.sincg %{{.*}}, %{{[^ ]*}} : f64
// CHECK-NEXT: nb.grating %{{.*}}, %{{[^ ]*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.grating %{{.*}}, %{{.*}} order [0, 1, 0] cells [0, 0, 2] : !nb.vec3<f64>
// CHECK-NEXT: nb.grating %{{.*}}, %{{.*}} cells [1, 0, 0] : !nb.vec3<f64> -> f32
// CHECK-NEXT: nb.ball %{{[^ ]*}} : f64
// CHECK-NEXT: nb.ball %{{.*}} order 3 : f64
func.func @shapes(%v: !nb.vec3<f64>, %x: f64) -> (f64, f64, f64, f64, f64, f32, f64, f64) {
  %a = nb.sincg %x, %x order 2 cells 1 : f64
  %b = nb.sincg %x, %x cells 1 : f64
  %c = nb.sincg %x, %x order 0 : f64
  %d = nb.grating %v, %v order [0, 0, 0] : !nb.vec3<f64>
  %e = nb.grating %v, %v order [0, 1, 0] cells [0, 0, 2] : !nb.vec3<f64>
  %s = nb.grating %v, %v cells [1, 0, 0] : !nb.vec3<f64> -> f32
  %f = nb.ball %x : f64
  %g = nb.ball %x order 3 : f64
  return %a, %b, %c, %d, %e, %s, %f, %g : f64, f64, f64, f64, f64, f32, f64, f64
}

// CHECK-LABEL: func.func @interpolation
// CHECK: nb.structure_factor tricubic %{{.*}}[%{{.*}}] order [1, 0, 3] : !nb.hkl_grid<f64>, !nb.vec3<f64>
// CHECK-NEXT: nb.structure_factor nearest %{{.*}}[%{{[^ ]*}}] : !nb.hkl_grid<f64>, !nb.vec3<f64>
func.func @interpolation(%F: !nb.hkl_grid<f64>, %h: !nb.vec3<f64>) -> (f64, f64) {
  %a = nb.structure_factor tricubic %F[%h] order [1, 0, 3] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  %b = nb.structure_factor nearest %F[%h] order [0, 0, 0] : !nb.hkl_grid<f64>, !nb.vec3<f64>
  return %a, %b : f64, f64
}

// Vectors, tables and grids add up like numbers.

// CHECK-LABEL: func.func @sums
// CHECK: nb.sum source %[[I:.*]] in %{{.*}}, mosaic %[[J:.*]] in %{{.*}} : f64, !nb.vec3<f64>, !nb.mat3<f64>, !nb.table<?x?x!nb.vec3<f64>>, !nb.hkl_grid<f32>
// CHECK-NEXT: nb.scatter %{{.*}} at [%[[I]], %[[J]]] in (%{{.*}}, %{{.*}}) : !nb.table<?x?x!nb.vec3<f64>>
// CHECK-NEXT: nb.scatter_factor nearest integral %{{.*}} at [%{{.*}}] like %{{[^ ]*}} : !nb.hkl_grid<f32>, !nb.vec3<f64>
// CHECK-NEXT: nb.yield
func.func @sums(%n: index, %x: f64, %v: !nb.vec3<f64>, %m: !nb.mat3<f64>, %F: !nb.hkl_grid<f32>)
    -> (f64, !nb.vec3<f64>, !nb.mat3<f64>, !nb.table<?x?x!nb.vec3<f64>>, !nb.hkl_grid<f32>) {
  %s:5 = nb.sum source %i in %n, mosaic %j in %n
      : f64, !nb.vec3<f64>, !nb.mat3<f64>, !nb.table<?x?x!nb.vec3<f64>>, !nb.hkl_grid<f32> {
    %t = nb.scatter %v at [%i, %j] in (%n, %n) : !nb.table<?x?x!nb.vec3<f64>>
    %g = nb.scatter_factor nearest integral %x at [%v] like %F : !nb.hkl_grid<f32>, !nb.vec3<f64>
    nb.yield %x, %v, %m, %t, %g
        : f64, !nb.vec3<f64>, !nb.mat3<f64>, !nb.table<?x?x!nb.vec3<f64>>, !nb.hkl_grid<f32>
  }
  return %s#0, %s#1, %s#2, %s#3, %s#4
      : f64, !nb.vec3<f64>, !nb.mat3<f64>, !nb.table<?x?x!nb.vec3<f64>>, !nb.hkl_grid<f32>
}

// The value and its gradient in one sweep, and a gradient alone.

// CHECK-LABEL: func.func @gradient
// CHECK: nb.image {{.*}} : tensor<?x?x?xf64>, f64, !nb.vec3<f64> {
// CHECK-NEXT: nb.read_pixel %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?x?xf64>
// CHECK: nb.image {{.*}} : !nb.mat3<f64> {
func.func @gradient(%n: index, %cotangent: tensor<?x?x?xf64>, %v: !nb.vec3<f64>,
                    %m: !nb.mat3<f64>)
    -> (tensor<?x?x?xf64>, f64, !nb.vec3<f64>, !nb.mat3<f64>) {
  %img, %x, %y = nb.image panel %p in %n, slow %s in %n, fast %f in %n
      : tensor<?x?x?xf64>, f64, !nb.vec3<f64> {
    %g = nb.read_pixel %cotangent[%p, %s, %f] : tensor<?x?x?xf64>
    nb.yield %g, %g, %v : f64, f64, !nb.vec3<f64>
  }
  %z = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.mat3<f64> {
    nb.yield %m : !nb.mat3<f64>
  }
  return %img, %x, %y, %z : tensor<?x?x?xf64>, f64, !nb.vec3<f64>, !nb.mat3<f64>
}

// Sums over pixels are over their lanes, too.

// CHECK-LABEL: func.func @lanes
// CHECK: nb.image {{.*}} lanes(4) : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
// CHECK-NEXT: nb.read_pixel %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?x?xf64> to vector<4xf64>
// CHECK: nb.scatter %{{.*}} at [%{{.*}}] in (%{{.*}}) : vector<4xf64> to !nb.table<?xf64>
// CHECK: nb.scatter_factor tricubic %{{.*}} at [%{{.*}}] like %{{.*}} order [0, 1, 0] : !nb.hkl_grid<f64>, !nb.vec3<vector<4xf64>>
func.func @lanes(%n: index, %cotangent: tensor<?x?x?xf64>, %v: !nb.vec3<f64>, %i: index,
                 %F: !nb.hkl_grid<f64>)
    -> (f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>) {
  %r:4 = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(4)
      : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64> {
    %g = nb.read_pixel %cotangent[%p, %s, %f] : tensor<?x?x?xf64> to vector<4xf64>
    %w = nb.splat %v : !nb.vec3<f64> to !nb.vec3<vector<4xf64>>
    %t = nb.scatter %g at [%i] in (%n) : vector<4xf64> to !nb.table<?xf64>
    %h = nb.scatter_factor tricubic %g at [%w] like %F order [0, 1, 0]
        : !nb.hkl_grid<f64>, !nb.vec3<vector<4xf64>>
    nb.yield %g, %w, %t, %h
        : vector<4xf64>, !nb.vec3<vector<4xf64>>, !nb.table<?xf64>, !nb.hkl_grid<f64>
  }
  return %r#0, %r#1, %r#2, %r#3 : f64, !nb.vec3<f64>, !nb.table<?xf64>, !nb.hkl_grid<f64>
}

// CHECK-LABEL: func.func @search
// CHECK: nb.first source %{{.*}} in %{{.*}} : f64, !nb.vec3<f64> {
// CHECK-NEXT: nb.yield %{{.*}}, %{{.*}}, %{{.*}} : i1, f64, !nb.vec3<f64>
func.func @search(%n: index, %c: i1, %x: f64, %v: !nb.vec3<f64>) -> (f64, !nb.vec3<f64>) {
  %a, %b = nb.first source %i in %n : f64, !nb.vec3<f64> {
    nb.yield %c, %x, %v : i1, f64, !nb.vec3<f64>
  }
  return %a, %b : f64, !nb.vec3<f64>
}

// Several contributions to one table.

// CHECK-LABEL: func.func @additions
// CHECK: nb.add %{{.*}}, %{{.*}} : !nb.table<?xf64>
// CHECK: nb.add %{{.*}}, %{{.*}} : !nb.hkl_grid<f64>
func.func @additions(%n: index, %x: f64, %v: !nb.vec3<f64>, %F: !nb.hkl_grid<f64>)
    -> (!nb.table<?xf64>, !nb.hkl_grid<f64>) {
  %r:2 = nb.sum source %i in %n, phi %j in %n : !nb.table<?xf64>, !nb.hkl_grid<f64> {
    %a = nb.scatter %x at [%i] in (%n) : !nb.table<?xf64>
    %b = nb.scatter %x at [%j] in (%n) : !nb.table<?xf64>
    %t = nb.add %a, %b : !nb.table<?xf64>
    %c = nb.scatter_factor nearest %x at [%v] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
    %d = nb.scatter_factor tricubic %x at [%v] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
    %g = nb.add %c, %d : !nb.hkl_grid<f64>
    nb.yield %t, %g : !nb.table<?xf64>, !nb.hkl_grid<f64>
  }
  return %r#0, %r#1 : !nb.table<?xf64>, !nb.hkl_grid<f64>
}
