// RUN: nb-opt %s --nb-close-averages --canonicalize --cse | FileCheck %s
// RUN: nb-opt %s --nb-close-averages --verify-roundtrip -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline=until-after=cull | FileCheck %s --check-prefix=CULL
// RUN: nb-opt %s --nb-cpu-pipeline -o /dev/null

// A wavelength and the place along fast are averaged: the draws are gone, and a sum over the
// reflections about the nearest has error functions and one exponential. Ahead of the image stands
// what the runtime finds reflections by.

// CHECK-LABEL: @image
// CHECK: nb.reach numbers({{.*}}) tables(
// CHECK: nb.image
// CHECK-NOT: nb.deviate
// CHECK: nb.sum phi
// CHECK: nb.sum reflection
// CHECK: nb.neighbour
// CHECK-COUNT-2: math.erfc
// CHECK: math.exp
// CHECK-NOT: math.erfc
// CHECK-NOT: nb.lattice_factor

// Reflections are those that the runtime lists.
// CULL-LABEL: @image
// CULL: nb.image {{.*}} attributes {nb.lit}
// CULL: nb.sum phi {{.*}} attributes {nb.lit = array<i64: 1>}
// CULL: nb.sum reflection {{.*}} attributes {nb.lit = array<i64: 2>}
// CULL-NOT: nb.neighbour
func.func @image(%nodes: !nb.table<?xf64> {nb.name = "average_node"},
                 %weights: !nb.table<?xf64> {nb.name = "average_weight"},
                 %count: index {nb.name = "average_nodes"},
                 %dark: f64 {nb.name = "average_exponent"},
                 %around: index {nb.name = "reflections_around"},
                 %places: !nb.table<?xf64>, %shifts: !nb.table<?xf64>, %n: !nb.vec3<f64>,
                 %fudge: f64, %bases: !nb.table<?x!nb.mat3<f64>>, %k: !nb.vec3<f64>, %o: !nb.vec3<f64>,
                 %f: !nb.vec3<f64>, %s: !nb.vec3<f64>, %size: f64, %lambda: f64, %sigma: f64,
                 %draws: index, %steps: index, %np: index, %ns: index, %nf: index)
    -> tensor<?x?x?xf64> attributes {nb.cull = 0.0} {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %F = arith.constant 7.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %p in %np, slow %i in %ns, fast %j in %nf : tensor<?x?x?xf64> {
    %sum = nb.sum phi %step in %steps, draw %d in %draws : f64 {
      %u = nb.deviate uniform %places[%d] : !nb.table<?xf64>
      %within = arith.mulf %u, %size : f64
      %x0 = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
      %x = arith.addf %x0, %within : f64
      %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
      %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %zero : !nb.vec3<f64>
      %dir = nb.normalize %P : !nb.vec3<f64>
      %t = nb.deviate normal %shifts[%d] : !nb.table<?xf64>
      %shift = arith.mulf %t, %sigma : f64
      %relative = arith.addf %one, %shift : f64
      %l = arith.mulf %lambda, %relative : f64
      %q = nb.scattering_vector %dir, %k, %l : !nb.vec3<f64>
      %D = nb.lookup %bases[%step] : !nb.table<?x!nb.mat3<f64>>
      %h = nb.miller_index %D, %q : !nb.vec3<f64>
      %L = nb.lattice_factor gauss %h, %n fudge %fudge : !nb.vec3<f64>
      %I = nb.intensity %F, %L : f64
      nb.yield %I : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}
