// RUN: nb-opt %s --nb-close-averages --canonicalize --cse | FileCheck %s
// RUN: nb-opt %s --nb-close-averages --verify-roundtrip -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline=derivative=vjp(phi0) -o /dev/null
// RUN: nb-opt %s --nb-close-averages --remarks-filter=nb-close-averages -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// An image of listed pixels, of which each stands for a reflection: its place, its wavelength and
// the angle of the rotation are averaged, and the columns of a table are the results. The one sum
// that is left over draws is a quadrature over the angle; the place is averaged over the plane, and
// so there are no error functions. What belongs to the whole pixel is taken at the mean place.

// REMARK: a reflection in the place of each pixel: 1 normal distribution(s)

// CHECK-LABEL: @image
// CHECK-SAME: -> (tensor<?x?x?xf64> {nb.name = "photons"}, tensor<?x?x?xf64> {nb.name = "partiality"}, tensor<?x?x?xf64> {nb.name = "fast"}, tensor<?x?x?xf64> {nb.name = "slow"}, tensor<?x?x?xf64> {nb.name = "angle"}, tensor<?x?x?xf64> {nb.name = "covariance_ff"}, tensor<?x?x?xf64> {nb.name = "covariance_fs"}, tensor<?x?x?xf64> {nb.name = "covariance_ss"}, tensor<?x?x?xf64> {nb.name = "wavelength"}, tensor<?x?x?xf64> {nb.name = "wavelength_sigma"}, tensor<?x?x?xf64> {nb.name = "skew_fff"}, tensor<?x?x?xf64> {nb.name = "skew_ffs"}, tensor<?x?x?xf64> {nb.name = "skew_fss"}, tensor<?x?x?xf64> {nb.name = "skew_sss"}, tensor<?x?x?xf64> {nb.name = "excess"}, tensor<?x?x?xf64> {nb.name = "motion"}, tensor<?x?x?xf64> {nb.name = "turn"}, tensor<?x?x?xf64> {nb.name = "turn_sigma"}, tensor<?x?x?xf64> {nb.name = "brightest"})
// CHECK: nb.image
// CHECK: %[[FAST:.*]] = nb.read_pixel %listed_fast
// CHECK-DAG: nb.read_pixel %h
// CHECK-DAG: nb.read_pixel %turn
// CHECK-NOT: nb.deviate
// CHECK: %[[SUM:.*]]:19 = nb.sum source
// CHECK-NOT: nb.neighbour
// CHECK: nb.sum subslow %{{.*}} in %count : f64, f64, f64
// CHECK-NOT: math.erfc
// CHECK: %[[CENTRE:.*]] = arith.addf %[[FAST]],
// CHECK: arith.mulf %{{.*}}, %[[CENTRE]]
// CHECK-NOT: nb.lattice_factor
func.func @image(%nodes: !nb.table<?xf64> {nb.name = "average_node"},
                 %weights: !nb.table<?xf64> {nb.name = "average_weight"},
                 %count: index {nb.name = "average_nodes"},
                 %dark: f64 {nb.name = "average_exponent"},
                 %around: index {nb.name = "reflections_around"},
                 %fasts: !nb.table<?xf64> {nb.name = "draw_fast"},
                 %slows: !nb.table<?xf64> {nb.name = "draw_slow"},
                 %turns: !nb.table<?xf64> {nb.name = "draw_phi"},
                 %shifts: !nb.table<?xf64> {nb.name = "draw_wavelength"},
                 %lambda: f64 {nb.name = "wavelength"},
                 %phi0: f64 {nb.name = "phi0"}, %osc: f64 {nb.name = "osc"},
                 %listed_slow: tensor<?x?x?xf64> {nb.name = "pixel_slow"},
                 %listed_fast: tensor<?x?x?xf64> {nb.name = "pixel_fast"},
                 %h: tensor<?x?x?xf64> {nb.name = "reflection_h"},
                 %k: tensor<?x?x?xf64> {nb.name = "reflection_k"},
                 %l: tensor<?x?x?xf64> {nb.name = "reflection_l"},
                 %turn: tensor<?x?x?xf64> {nb.name = "reflection_turn"},
                 %begin: tensor<?x?x?xf64> {nb.name = "reflection_begin"},
                 %end: tensor<?x?x?xf64> {nb.name = "reflection_end"},
                 %n: !nb.vec3<f64>, %fudge: f64, %direct: !nb.mat3<f64>, %axis: !nb.vec3<f64>,
                 %beam: !nb.vec3<f64>, %o: !nb.vec3<f64>, %f: !nb.vec3<f64>, %s: !nb.vec3<f64>,
                 %size: f64, %sigma: f64, %draws: index, %sources: index, %ns: index, %nf: index)
    -> tensor<?x?x?xf64> attributes {nb.reflections} {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %F = arith.constant 7.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %panel in %c1, slow %row in %ns, fast %place in %nf : tensor<?x?x?xf64> {
    %i = nb.read_pixel %listed_slow[%panel, %row, %place] : tensor<?x?x?xf64>
    %j = nb.read_pixel %listed_fast[%panel, %row, %place] : tensor<?x?x?xf64>
    %sum = nb.sum source %source in %sources, draw %d in %draws : f64 {
      %uf = nb.deviate uniform %fasts[%d] : !nb.table<?xf64>
      %pf = arith.addf %j, %uf : f64
      %x = arith.mulf %pf, %size : f64
      %us = nb.deviate uniform %slows[%d] : !nb.table<?xf64>
      %ps = arith.addf %i, %us : f64
      %y = arith.mulf %ps, %size : f64
      %P = nb.pixel_position %o, %f, %s, %o at %x, %y, %zero : !nb.vec3<f64>
      %dir = nb.normalize %P : !nb.vec3<f64>
      %t = nb.deviate normal %shifts[%d] : !nb.table<?xf64>
      %shift = arith.mulf %t, %sigma : f64
      %relative = arith.addf %one, %shift : f64
      %wave = arith.mulf %lambda, %relative : f64
      %q = nb.scattering_vector %dir, %beam, %wave : !nb.vec3<f64>
      %u = nb.deviate uniform %turns[%d] : !nb.table<?xf64>
      %part = arith.mulf %u, %osc : f64
      %phi = arith.addf %phi0, %part : f64
      %spindle = nb.axis_rotation %axis, %phi : !nb.vec3<f64>
      %back = nb.transpose %spindle : !nb.mat3<f64>
      %D = nb.multiply %direct, %back : !nb.mat3<f64>
      %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
      %L = nb.lattice_factor gauss %hkl, %n fudge %fudge : !nb.vec3<f64>
      %I = nb.intensity %F, %L : f64
      nb.yield %I : f64
    }
    %brighter = arith.mulf %sum, %j : f64
    nb.yield %brighter : f64
  }
  return %image : tensor<?x?x?xf64>
}
