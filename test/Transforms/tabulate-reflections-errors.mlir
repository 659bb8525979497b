// RUN: nb-opt %s --nb-close-averages --split-input-file --verify-diagnostics

// expected-note @below {{in the function 'image'; with the attribute 'nb.draws' it is taken by draws}}
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
                 %h: tensor<?x?x?xf64> {nb.name = "h"},
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
    // expected-error @below {{the average has no closed form: the function has no arguments 'reflection_h', 'reflection_k' and 'reflection_l'}}
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

// -----

// expected-note @below {{in the function 'image'; with the attribute 'nb.draws' it is taken by draws}}
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
                 %listed_fast: tensor<?x?x?xf64> {nb.name = "fast"},
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
    // expected-error @below {{the average has no closed form: the pixels are not those of the arguments 'pixel_fast' and 'pixel_slow'}}
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

// -----

// expected-note @below {{in the function 'image'; with the attribute 'nb.draws' it is taken by draws}}
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
      // expected-error @below {{the average has no closed form: something else than reflections is added}}
      %more = arith.addf %I, %one : f64
      nb.yield %more : f64
    }
    %brighter = arith.mulf %sum, %j : f64
    nb.yield %brighter : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// expected-note @below {{in the function 'image'; with the attribute 'nb.draws' it is taken by draws}}
func.func @image(%nodes: !nb.table<?xf64> {nb.name = "average_node"},
                 %weights: !nb.table<?xf64> {nb.name = "average_weight"},
                 %count: index {nb.name = "average_nodes"},
                 %dark: f64 {nb.name = "average_exponent"},
                 %around: index {nb.name = "reflections_around"},
                 %fasts: !nb.table<?xf64> {nb.name = "draw_fast"},
                 %slows: !nb.table<?xf64> {nb.name = "slow"},
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
      // expected-error @below {{the average has no closed form: the uniform distributions are not 'draw_fast', 'draw_slow' and 'draw_phi'}}
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
