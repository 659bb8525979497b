// RUN: nb-opt %s --nb-cull | FileCheck %s
// RUN: nb-opt %s --nb-cull --verify-roundtrip -o /dev/null

// The runtime gets the angles of a curved panel's pixels at four points, which say all of them where they
// are sums of multiples of the coordinates, and what is turned by them.

// CHECK-LABEL: @linear
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}} {
// CHECK: nb.vec %{{.*}}, %{{.*}}, %{{.*}} : f64
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}} {
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}} {
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}} {
// CHECK: nb.tabulate layer %{{.*}} in %{{.*}} : !nb.table<?xf64>
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}}, layer %{{.*}} in %{{.*}} : !nb.table<?x?xf64>
// CHECK-NOT: nb.tabulate panel {{.*}}, slow
// CHECK: nb.reach
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
// CHECK: nb.curved_position
func.func @linear(%bases: !nb.table<?x!nb.vec3<f64>>, %k: !nb.vec3<f64>, %lambda: f64,
                  %n: !nb.vec3<f64>, %o: !nb.vec3<f64>, %f: !nb.vec3<f64>, %s: !nb.vec3<f64>,
                  %size: f64, %radius: f64, %fudge: f64, %domains: index, %layers: index,
                  %np: index, %ns: index, %nf: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %F = arith.constant 7.0 : f64
  %image = nb.image panel %p in %np, slow %i in %ns, fast %j in %nf : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %sum = nb.sum layer %l in %layers : f64 {
      %li = arith.index_cast %l : index to i64
      %lf = arith.sitofp %li : i64 to f64
      %depth = arith.mulf %lf, %size : f64
      %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %depth : !nb.vec3<f64>
      %Py = nb.component %P[1] : !nb.vec3<f64>
      %about_slow = arith.divf %Py, %radius : f64
      %about_fast = arith.negf %y : f64
      %r = arith.addf %radius, %depth : f64
      %C = nb.curved_position %k, %f, %s, %r, %about_slow, %about_fast : !nb.vec3<f64>
      %d = nb.normalize %C : !nb.vec3<f64>
      %q = nb.scattering_vector %d, %k, %lambda : !nb.vec3<f64>
      %inner = nb.sum mosaic %m in %domains : f64 {
        %axis = nb.lookup inbounds %bases[%m] : !nb.table<?x!nb.vec3<f64>>
        %D = nb.axis_rotation %axis, %size : !nb.vec3<f64>
        %h = nb.miller_index %D, %q : !nb.vec3<f64>
        %L = nb.lattice_factor gauss %h, %n fudge %fudge : !nb.vec3<f64>
        %I = nb.intensity %F, %L : f64
        nb.yield %I : f64
      }
      nb.yield %inner : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// Angles that are not linear in the coordinates: the direction of each pixel is written down.

// CHECK-LABEL: @square
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}}, slow %{{.*}} in %{{.*}}, fast %{{.*}} in %{{.*}} : !nb.table<?x?x?x!nb.vec3<f64>>
// CHECK: nb.reach
func.func @square(%bases: !nb.table<?x!nb.vec3<f64>>, %k: !nb.vec3<f64>, %lambda: f64,
                  %n: !nb.vec3<f64>, %f: !nb.vec3<f64>, %s: !nb.vec3<f64>, %size: f64,
                  %radius: f64, %fudge: f64, %domains: index, %np: index, %ns: index,
                  %nf: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %F = arith.constant 7.0 : f64
  %image = nb.image panel %p in %np, slow %i in %ns, fast %j in %nf : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %x2 = arith.mulf %x, %x : f64
    %C = nb.curved_position %k, %f, %s, %radius, %x2, %y : !nb.vec3<f64>
    %d = nb.normalize %C : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %lambda : !nb.vec3<f64>
    %inner = nb.sum mosaic %m in %domains : f64 {
      %axis = nb.lookup inbounds %bases[%m] : !nb.table<?x!nb.vec3<f64>>
      %D = nb.axis_rotation %axis, %size : !nb.vec3<f64>
      %h = nb.miller_index %D, %q : !nb.vec3<f64>
      %L = nb.lattice_factor gauss %h, %n fudge %fudge : !nb.vec3<f64>
      %I = nb.intensity %F, %L : f64
      nb.yield %I : f64
    }
    nb.yield %inner : f64
  }
  return %image : tensor<?x?x?xf64>
}
