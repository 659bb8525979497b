// RUN: nb-opt %s --nb-cull | FileCheck %s

// What derivatives are made of vanishes away from reflections too: an image of one term, whose direction
// is read from a list of pixels.

// A grating has no form; its cells and the bound of its envelope, 1 / sqrt(1e-8), are said. The
// direction of each pixel is written down.
// CHECK-LABEL: @grating
// CHECK: nb.tabulate panel {{.*}}, slow {{.*}}, fast
// CHECK: arith.constant 1.000000e+04 : f64
// CHECK: nb.reach numbers(
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
func.func @grating(%B: !nb.mat3<f64>, %list: tensor<?x?x?xf64>, %k: !nb.vec3<f64>,
                   %n: !nb.vec3<f64>, %size: f64, %np: index, %domains: index)
    -> tensor<?x?x?xf64> attributes {nb.cull = 1.0e-8} {
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %x = nb.read_pixel %list[%p, %i, %j] : tensor<?x?x?xf64>
    %P = nb.vec %x, %size, %size : f64
    %d = nb.normalize %P : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %size : !nb.vec3<f64>
    %sum = nb.sum mosaic %m in %domains : f64 {
      %h = nb.miller_index %B, %q : !nb.vec3<f64>
      %c = nb.nearest_miller_index %h : !nb.vec3<f64>
      %delta = nb.sub %h, %c : !nb.vec3<f64>
      %L = nb.grating %delta, %n : !nb.vec3<f64>
      %M = nb.grating %delta, %n order [1, 0, 0] : !nb.vec3<f64>
      %I = arith.mulf %L, %M : f64
      nb.yield %I : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// CHECK-LABEL: @ball
// CHECK: nb.reach numbers(
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
// CHECK-LABEL: @choice
// CHECK: nb.reach numbers(
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
func.func @ball(%B: !nb.mat3<f64>, %k: !nb.vec3<f64>, %o: !nb.vec3<f64>, %f: !nb.vec3<f64>,
                %s: !nb.vec3<f64>, %size: f64, %np: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 1.0e-8} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %zero : !nb.vec3<f64>
    %d = nb.normalize %P : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %size : !nb.vec3<f64>
    %sum = nb.sum mosaic %m in %np : f64 {
      %h = nb.miller_index %B, %q : !nb.vec3<f64>
      %c = nb.nearest_miller_index %h : !nb.vec3<f64>
      %delta = nb.sub %h, %c : !nb.vec3<f64>
      %a = nb.component %delta[0] : !nb.vec3<f64>
      %u = arith.mulf %a, %a : f64
      %v = arith.mulf %u, %size : f64
      %L = nb.ball %v order 1 : f64
      nb.yield %L : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

func.func @choice(%B: !nb.mat3<f64>, %k: !nb.vec3<f64>, %o: !nb.vec3<f64>, %f: !nb.vec3<f64>,
                  %s: !nb.vec3<f64>, %size: f64, %np: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %zero = arith.constant 0.0 : f64
  %edge = arith.constant 0.5 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %zero : !nb.vec3<f64>
    %d = nb.normalize %P : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %size : !nb.vec3<f64>
    %sum = nb.sum mosaic %m in %np : f64 {
      %h = nb.miller_index %B, %q : !nb.vec3<f64>
      %c = nb.nearest_miller_index %h : !nb.vec3<f64>
      %delta = nb.sub %h, %c : !nb.vec3<f64>
      %a = nb.component %delta[0] : !nb.vec3<f64>
      %u = arith.mulf %a, %a : f64
      %near = arith.cmpf olt, %u, %edge : f64
      %L = arith.select %near, %size, %zero : f64
      nb.yield %L : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// An exponential in f32 is 0 from 42 on, as far as kernels compute it.
// CHECK-LABEL: @rounded_exponent
// CHECK: arith.constant -0.023809523809523808 : f64
// CHECK: nb.reach numbers(
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
func.func @rounded_exponent(%B: !nb.mat3<f64>, %k: !nb.vec3<f64>, %o: !nb.vec3<f64>, %f: !nb.vec3<f64>,
                            %s: !nb.vec3<f64>, %size: f64, %np: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %zero : !nb.vec3<f64>
    %d = nb.normalize %P : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %size : !nb.vec3<f64>
    %sum = nb.sum mosaic %m in %np : f64 {
      %h = nb.miller_index %B, %q : !nb.vec3<f64>
      %c = nb.nearest_miller_index %h : !nb.vec3<f64>
      %delta = nb.sub %h, %c : !nb.vec3<f64>
      %a = nb.component %delta[0] : !nb.vec3<f64>
      %u = arith.mulf %a, %a : f64
      %v = arith.mulf %u, %size : f64
      %single = arith.truncf %v : f64 to f32
      %e = math.exp %single : f32
      %L = arith.extf %e : f32 to f64
      nb.yield %L : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}
