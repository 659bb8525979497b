// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @parts
// CHECK: nb.vec %{{.*}}, %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: nb.component %{{.*}}[1] : !nb.vec3<f64>
// CHECK-NEXT: nb.mat %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !nb.mat3<f64>
// CHECK-NEXT: nb.element %{{.*}}[0, 2] : !nb.mat3<f64>
// CHECK-NEXT: nb.row %{{.*}}[0] : !nb.mat3<f64>
func.func @parts(%x: f64, %y: f64) -> (f64, f64, !nb.vec3<f64>) {
  %v = nb.vec %x, %y, %x : f64
  %c = nb.component %v[1] : !nb.vec3<f64>
  %m = nb.mat %x, %y, %x, %y, %x, %y, %x, %y, %c : !nb.mat3<f64>
  %e = nb.element %m[0, 2] : !nb.mat3<f64>
  %a = nb.row %m[0] : !nb.mat3<f64>
  return %c, %e, %a : f64, f64, !nb.vec3<f64>
}

// CHECK-LABEL: func.func @algebra
// CHECK: nb.add %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.sub %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.cross %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.scale %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.dot %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.norm %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.normalize %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.transform %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.multiply %{{.*}}, %{{.*}} : !nb.mat3<f64>
// CHECK-NEXT: nb.transpose %{{.*}} : !nb.mat3<f64>
func.func @algebra(%a: !nb.vec3<f64>, %b: !nb.vec3<f64>, %s: f64, %m: !nb.mat3<f64>)
    -> (f64, f64, !nb.vec3<f64>, !nb.mat3<f64>) {
  %add = nb.add %a, %b : !nb.vec3<f64>
  %sub = nb.sub %add, %b : !nb.vec3<f64>
  %cross = nb.cross %sub, %b : !nb.vec3<f64>
  %scale = nb.scale %cross, %s : !nb.vec3<f64>
  %dot = nb.dot %scale, %b : !nb.vec3<f64>
  %norm = nb.norm %scale : !nb.vec3<f64>
  %unit = nb.normalize %scale : !nb.vec3<f64>
  %t = nb.transform %m, %unit : !nb.vec3<f64>
  %n = nb.multiply %m, %m : !nb.mat3<f64>
  %inverse = nb.transpose %n : !nb.mat3<f64>
  return %dot, %norm, %t, %inverse : f64, f64, !nb.vec3<f64>, !nb.mat3<f64>
}

// CHECK-LABEL: func.func @rotations
// CHECK: nb.axis_rotation %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.vector_rotation %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.euler_rotation %{{.*}}, %{{.*}}, %{{.*}} : f64
func.func @rotations(%spindle: !nb.vec3<f64>, %x: f64)
    -> (!nb.mat3<f64>, !nb.mat3<f64>, !nb.mat3<f64>) {
  %m = nb.axis_rotation %spindle, %x : !nb.vec3<f64>
  %w = nb.vector_rotation %spindle : !nb.vec3<f64>
  %n = nb.euler_rotation %x, %x, %x : f64
  return %m, %w, %n : !nb.mat3<f64>, !nb.mat3<f64>, !nb.mat3<f64>
}

// CHECK-LABEL: func.func @detector
// CHECK: nb.detector_coordinate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : index, f64
// CHECK-NEXT: nb.pixel_position %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK-NEXT: nb.curved_position %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !nb.vec3<f64>
func.func @detector(%fast: index, %sub: index, %n: index, %size: f64, %v: !nb.vec3<f64>)
    -> (!nb.vec3<f64>, !nb.vec3<f64>) {
  %F = nb.detector_coordinate %fast, %sub, %n, %size : index, f64
  %P = nb.pixel_position %v, %v, %v, %v at %F, %F, %size : !nb.vec3<f64>
  %Q = nb.curved_position %v, %v, %v, %size, %F, %F : !nb.vec3<f64>
  return %P, %Q : !nb.vec3<f64>, !nb.vec3<f64>
}

// Lanes and single precision.

// CHECK-LABEL: func.func @lanes
// CHECK: nb.splat %{{.*}} : !nb.vec3<f64> to !nb.vec3<vector<8xf64>>
// CHECK-NEXT: nb.splat %{{.*}} : !nb.mat3<f32> to !nb.mat3<vector<16xf32>>
// CHECK-NEXT: nb.detector_coordinate %{{.*}} : vector<8xindex>, vector<8xf64>
// CHECK-NEXT: nb.scale %{{.*}} : !nb.vec3<vector<8xf64>>
// CHECK-NEXT: nb.component %{{.*}}[0] : !nb.vec3<vector<8xf64>>
func.func @lanes(%v: !nb.vec3<f64>, %m: !nb.mat3<f32>, %i: vector<8xindex>, %size: vector<8xf64>)
    -> (!nb.mat3<vector<16xf32>>, vector<8xf64>) {
  %w = nb.splat %v : !nb.vec3<f64> to !nb.vec3<vector<8xf64>>
  %n = nb.splat %m : !nb.mat3<f32> to !nb.mat3<vector<16xf32>>
  %F = nb.detector_coordinate %i, %i, %i, %size : vector<8xindex>, vector<8xf64>
  %s = nb.scale %w, %F : !nb.vec3<vector<8xf64>>
  %x = nb.component %s[0] : !nb.vec3<vector<8xf64>>
  return %n, %x : !nb.mat3<vector<16xf32>>, vector<8xf64>
}
