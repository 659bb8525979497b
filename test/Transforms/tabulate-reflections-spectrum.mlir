// RUN: nb-opt %s --nb-close-averages --canonicalize --cse | FileCheck %s
// RUN: nb-opt %s --nb-cpu-pipeline -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline=derivative=vjp(spectrum_density) -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline=derivative=jvp(spectrum_density) -o /dev/null

// With a continuous spectrum, a row begins at its own wavelength. The light is summed over the part
// of the spectrum between two arguments that the spot takes. The sum's nine results are the light,
// four of its moments and its square, the light of a flat spectrum and its square, and the density.

// CHECK-LABEL: @image
// CHECK-SAME: %[[WAVES:[a-z0-9]+]]: !nb.hkl_grid<f64> {nb.name = "spectrum_wavelength"}
// CHECK-SAME: %[[DENSITY:[a-z0-9]+]]: !nb.hkl_grid<f64> {nb.name = "spectrum_density"}
// CHECK: nb.image
// CHECK: %[[START:.*]] = nb.read_pixel %{{.*}} : tensor<?x?x?xf64>
// CHECK-DAG: %[[BEGIN:.*]] = nb.read_pixel %begin
// CHECK-DAG: %[[END:.*]] = nb.read_pixel %end
// CHECK: nb.sum source
// CHECK: arith.subf %[[END]], %[[BEGIN]]
// CHECK: arith.maximumf {{.*}}%[[BEGIN]]
// CHECK: arith.minimumf {{.*}}%[[END]]
// CHECK: %[[PART:.*]]:9 = nb.sum subslow
// CHECK: nb.table_position %[[WAVES]]
// CHECK: nb.structure_factor nearest integral %[[DENSITY]]
// CHECK: nb.yield {{.*}} : f64, f64, f64, f64, f64, f64, f64, f64, f64
// CHECK-NOT: nb.table_position
func.func @image(%nodes: !nb.table<?xf64> {nb.name = "average_node"},
                 %weights: !nb.table<?xf64> {nb.name = "average_weight"},
                 %count: index {nb.name = "average_nodes"},
                 %dark: f64 {nb.name = "average_exponent"},
                 %around: index {nb.name = "reflections_around"},
                 %fasts: !nb.table<?xf64> {nb.name = "draw_fast"},
                 %slows: !nb.table<?xf64> {nb.name = "draw_slow"},
                 %shifts: !nb.table<?xf64> {nb.name = "draw_wavelength"},
                 %lambda: f64 {nb.name = "wavelength"},
                 %phi0: f64 {nb.name = "phi0"}, %F0: f64 {nb.name = "fluence"},
                 %listed_slow: tensor<?x?x?xf64> {nb.name = "pixel_slow"},
                 %listed_fast: tensor<?x?x?xf64> {nb.name = "pixel_fast"},
                 %h: tensor<?x?x?xf64> {nb.name = "reflection_h"},
                 %k: tensor<?x?x?xf64> {nb.name = "reflection_k"},
                 %l: tensor<?x?x?xf64> {nb.name = "reflection_l"},
                 %start: tensor<?x?x?xf64> {nb.name = "reflection_wavelength"},
                 %begin: tensor<?x?x?xf64> {nb.name = "reflection_begin"},
                 %end: tensor<?x?x?xf64> {nb.name = "reflection_end"},
                 %waves: !nb.hkl_grid<f64> {nb.name = "spectrum_wavelength"},
                 %density: !nb.hkl_grid<f64> {nb.name = "spectrum_density"},
                 %points: index {nb.name = "spectrum_nodes"},
                 %sigma: f64 {nb.name = "bandwidth_sigma"},
                 %n: !nb.vec3<f64>, %fudge: f64, %direct: !nb.mat3<f64>, %axis: !nb.vec3<f64>,
                 %beam: !nb.vec3<f64>, %o: !nb.vec3<f64>, %f: !nb.vec3<f64>, %s: !nb.vec3<f64>,
                 %size: f64, %draws: index, %sources: index, %ns: index, %nf: index)
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
      %phi = arith.addf %phi0, %zero : f64
      %spindle = nb.axis_rotation %axis, %phi : !nb.vec3<f64>
      %back = nb.transpose %spindle : !nb.mat3<f64>
      %D = nb.multiply %direct, %back : !nb.mat3<f64>
      %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
      %L = nb.lattice_factor gauss %hkl, %n fudge %fudge : !nb.vec3<f64>
      %I = nb.intensity %F0, %L : f64
      %counted = arith.index_cast %points : index to i64
      %number = arith.sitofp %counted : i64 to f64
      %last = arith.subf %number, %one : f64
      %position = nb.table_position %waves[%zero, %last] at %wave : !nb.hkl_grid<f64>, f64
      %entry = math.floor %position : f64
      %next = arith.addf %entry, %one : f64
      %fraction = arith.subf %position, %entry : f64
      %rest = arith.subf %one, %fraction : f64
      %at0 = nb.vec %zero, %zero, %entry : f64
      %at1 = nb.vec %zero, %zero, %next : f64
      %d0 = nb.structure_factor nearest %density[%at0] default %zero {integral} : !nb.hkl_grid<f64>, !nb.vec3<f64>
      %d1 = nb.structure_factor nearest %density[%at1] default %zero {integral} : !nb.hkl_grid<f64>, !nb.vec3<f64>
      %below = arith.mulf %rest, %d0 : f64
      %above = arith.mulf %fraction, %d1 : f64
      %spectrum = arith.addf %below, %above : f64
      %weighted = arith.mulf %I, %spectrum : f64
      nb.yield %weighted : f64
    }
    %brighter = arith.mulf %sum, %j : f64
    nb.yield %brighter : f64
  }
  return %image : tensor<?x?x?xf64>
}
