// RUN: nb-opt %s --nb-cull --split-input-file --verify-diagnostics --remarks-filter=nb-cull -o /dev/null

func.func @square(%D: !nb.mat3<f64>, %q: !nb.vec3<f64>, %n: !nb.vec3<f64>, %np: index)
    -> tensor<?x?x?xf64> attributes {nb.cull = 0.0} {
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %h = nb.miller_index %D, %q : !nb.vec3<f64>
    // expected-remark@below {{no sample is left out: a square crystal's factor is nowhere zero: only a tolerance could leave it out}}
    %L = nb.lattice_factor square %h, %n : !nb.vec3<f64>
    nb.yield %L : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

func.func @round(%D: !nb.mat3<f64>, %q: !nb.vec3<f64>, %n: !nb.vec3<f64>, %g: f64, %np: index)
    -> tensor<?x?x?xf64> attributes {nb.cull = 0.0} {
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %h = nb.miller_index %D, %q : !nb.vec3<f64>
    // expected-remark@below {{no sample is left out: a round crystal's factor is nowhere zero: only a tolerance could leave it out}}
    %L = nb.lattice_factor round %h, %n fudge %g : !nb.vec3<f64>
    nb.yield %L : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

func.func @direction(%D: !nb.mat3<f64>, %q: !nb.vec3<f64>, %n: !nb.vec3<f64>, %g: f64, %np: index)
    -> tensor<?x?x?xf64> attributes {nb.cull = 0.0} {
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    // expected-remark@below {{no sample is left out: its scattering vector is not made by nb.scattering_vector}}
    %h = nb.miller_index %D, %q : !nb.vec3<f64>
    %L = nb.lattice_factor gauss %h, %n fudge %g : !nb.vec3<f64>
    nb.yield %L : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

func.func @background(%D: !nb.mat3<f64>, %k: !nb.vec3<f64>, %n: !nb.vec3<f64>, %o: !nb.vec3<f64>,
                      %size: f64, %np: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %P = nb.pixel_position %o, %k, %n, %o at %x, %y, %zero : !nb.vec3<f64>
    %d = nb.normalize %P : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %size : !nb.vec3<f64>
    %sum = nb.sum mosaic %m in %np : f64 {
      %h = nb.miller_index %D, %q : !nb.vec3<f64>
      %L = nb.lattice_factor gauss %h, %n fudge %size : !nb.vec3<f64>
      // expected-remark@below {{no sample is left out: a term of the sum is not zero without light}}
      %I = arith.addf %L, %one : f64
      nb.yield %I : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// Lists of what is lit number all bases together: two loops over them would run over their square.
func.func @two_loops(%D: !nb.mat3<f64>, %k: !nb.vec3<f64>, %n: !nb.vec3<f64>, %o: !nb.vec3<f64>,
                     %turns: !nb.table<?x!nb.mat3<f64>>, %size: f64, %np: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 0.0} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %j, %c0, %c1, %size : index, f64
    %y = nb.detector_coordinate %i, %c0, %c1, %size : index, f64
    %P = nb.pixel_position %o, %k, %n, %o at %x, %y, %zero : !nb.vec3<f64>
    %d = nb.normalize %P : !nb.vec3<f64>
    %q = nb.scattering_vector %d, %k, %size : !nb.vec3<f64>
    %sum = nb.sum phi %f in %np : f64 {
      %R = nb.lookup %turns[%f] : !nb.table<?x!nb.mat3<f64>>
      // expected-remark@below {{the loops over bases are in two sums}}
      %domains = nb.sum mosaic %m in %np : f64 {
        %M = nb.lookup %turns[%m] : !nb.table<?x!nb.mat3<f64>>
        %turned = nb.multiply %M, %R : !nb.mat3<f64>
        %basis = nb.multiply %D, %turned : !nb.mat3<f64>
        %h = nb.miller_index %basis, %q : !nb.vec3<f64>
        %whole = nb.nearest_miller_index %h : !nb.vec3<f64>
        %fraction = nb.sub %h, %whole : !nb.vec3<f64>
        %L = nb.lattice_factor gauss fraction %fraction, %n fudge %size : !nb.vec3<f64>
        nb.yield %L : f64
      }
      nb.yield %domains : f64
    }
    nb.yield %sum : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// expected-remark@below {{no sample is left out: the function has no attribute 'nb.cull', a tolerance}}
func.func @not_asked(%x: f64, %np: index) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %np, slow %i in %np, fast %j in %np : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return %image : tensor<?x?x?xf64>
}
