// RUN: nb-opt %s --nb-cull | FileCheck %s
// RUN: nb-opt %s --nb-cull --verify-roundtrip -o /dev/null
// RUN: nb-opt %s --nb-cull --nb-vectorize=width=16 | FileCheck %s --check-prefix=LANES

// The sum over beams and that over bases are marked, and what decides where light falls stands ahead of
// the image.

// CHECK-LABEL: @image
// CHECK: nb.tabulate mosaic
// CHECK: nb.reach numbers({{.*}}) tables(
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
// CHECK: nb.sum source {{.*}} attributes {nb.lit = array<i64: 1>}
// CHECK: nb.sum mosaic {{.*}} attributes {nb.lit = array<i64: 2>}
// Spots are round, so the lanes are of two rows.
// LANES: nb.image {{.*}} lanes(8) rows(2) attributes {nb.lit}
func.func @image(%bases: !nb.table<?x!nb.vec3<f64>>, %k: !nb.table<?x!nb.vec3<f64>>,
                 %lambda: !nb.table<?xf64>, %n: !nb.vec3<f64>, %o: !nb.vec3<f64>,
                 %f: !nb.vec3<f64>, %s: !nb.vec3<f64>, %size: f64, %fudge: f64, %domains: index,
                 %sources: index, %np: index, %ns: index, %nf: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %F = arith.constant 7.0 : f64
  %image = nb.image panel %p in %np, slow %i in %ns, fast %j in %nf : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %zero : !nb.vec3<f64>
    %d = nb.normalize %P : !nb.vec3<f64>
    %sum = nb.sum source %b in %sources : f64 {
      %kb = nb.lookup inbounds %k[%b] : !nb.table<?x!nb.vec3<f64>>
      %lb = nb.lookup inbounds %lambda[%b] : !nb.table<?xf64>
      %q = nb.scattering_vector %d, %kb, %lb : !nb.vec3<f64>
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

// CHECK-LABEL: @not_asked
// CHECK-NOT: nb.lit
func.func @not_asked(%np: index) -> tensor<?x?x?xf64> {
  %one = arith.constant 1.0 : f64
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    nb.yield %one : f64
  }
  return %image : tensor<?x?x?xf64>
}
