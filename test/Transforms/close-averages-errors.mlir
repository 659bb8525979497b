// RUN: nb-opt %s --nb-close-averages --split-input-file --verify-diagnostics

// expected-note @below {{in the function 'image'; with the attribute 'nb.draws' it is taken by draws}}
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
      // expected-error @below {{the average has no closed form: only Gaussian crystals have averages in closed form}}
      %L = nb.lattice_factor round %h, %n fudge %fudge : !nb.vec3<f64>
      %I = nb.intensity %F, %L : f64
      nb.yield %I : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// expected-note @below {{in the function 'image'}}
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
      // expected-error @below {{the average has no closed form: it is not linear in the squared lattice factor}}
      %root = math.sqrt %I : f64
      nb.yield %root : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// expected-note @below {{in the function 'image'}}
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
      %weighted = arith.mulf %I, %l : f64
      // expected-error @below {{the average has no closed form: it is not linear in the squared lattice factor}}
      %square = arith.mulf %I, %weighted : f64
      nb.yield %square : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// expected-note @below {{in the function 'image'}}
func.func @image(%nodes: !nb.table<?xf64>,
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
    // expected-error @below {{the function has no arguments 'average_node', 'average_weight', 'average_nodes', 'average_exponent' and 'reflections_around'}}
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
// -----

// expected-note @below {{in the function 'image'}}
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
      // expected-error @below {{the average has no closed form: the lattice factor is used otherwise than squared}}
      %once = arith.mulf %L, %within : f64
      nb.yield %once : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

