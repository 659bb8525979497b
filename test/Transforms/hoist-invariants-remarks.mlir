// RUN: nb-opt %s --nb-hoist-invariants --verify-diagnostics --remarks-filter=nb-hoist-invariants -o /dev/null

// The numbers of ops moved.

// expected-remark@below {{moved 1 op(s) to the function, 1 to the pixel, 0 to an outer sum}}
func.func @done(%n: index, %nl: index, %nm: index, %step: f64, %angles: !nb.table<?xf64>,
                %pixels: !nb.table<?x!nb.vec3<f64>>, %axis: !nb.vec3<f64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %nl, mosaic %j in %nm : f64 {
      %unit = nb.normalize %axis : !nb.vec3<f64>
      %v = nb.lookup inbounds %pixels[%f] : !nb.table<?x!nb.vec3<f64>>
      %w = nb.lookup inbounds %pixels[%i] : !nb.table<?x!nb.vec3<f64>>
      %d = nb.cross %v, %w : !nb.vec3<f64>
      %a = nb.lookup inbounds %angles[%j] : !nb.table<?xf64>
      %U = nb.axis_rotation %unit, %a : !nb.vec3<f64>
      %t = nb.transform %U, %d : !nb.vec3<f64>
      %x = nb.norm %t : !nb.vec3<f64>
      %y = arith.mulf %x, %step : f64
      nb.yield %y : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// What could not move.

// expected-remark@below {{moved 0 op(s) to the function, 1 to the pixel, 0 to an outer sum}}
func.func @not_done(%n: index, %m: memref<f64>, %table: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %pixel = nb.lookup inbounds %table[%f] : !nb.table<?xf64>
    %I = nb.sum source %i in %n : f64 {
      %w = nb.lookup inbounds %table[%i] : !nb.table<?xf64>
      %root = math.sqrt %w : f64
      %lanes = vector.broadcast %root : f64 to vector<8xf64>
      // expected-remark@below {{'memref.load' stays where it is: it is not pure}}
      %x = memref.load %m[] : memref<f64>
      %J = nb.sum source %j in %n : f64 {
        %v = nb.lookup inbounds %table[%j] : !nb.table<?xf64>
        %vw = arith.divf %v, %root : f64
        %exp = math.exp %vw : f64
        %sum = arith.addf %exp, %pixel : f64
        nb.yield %sum : f64
      }
      %pixels = vector.broadcast %pixel : f64 to vector<8xf64>
      %both = arith.addf %lanes, %pixels : vector<8xf64>
      %y = vector.extract %both[0] : f64 from vector<8xf64>
      %z = arith.addf %y, %J : f64
      %u = arith.addf %x, %z : f64
      %scaled = arith.divf %u, %pixel : f64
      nb.yield %scaled : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// An entry that may not be there.

// expected-remark@below {{moved 1 op(s) to the function, 0 to the pixel, 0 to an outer sum}}
func.func @not_safe(%n: index, %t: !nb.table<?xf64>, %i: index, %j: index, %m: index) -> f64 {
  %I = nb.sum source %k in %n : f64 {
    // expected-remark@below {{'nb.lookup' stays where it is: it may be undefined where the program does not run it; inbounds says that it is not}}
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = nb.lookup inbounds %t[%i] : !nb.table<?xf64>
    %z = nb.lookup %t[%k] : !nb.table<?xf64>
    // expected-remark@below {{'arith.divui' stays where it is: it may be undefined where the program does not run it}}
    %q = arith.divui %j, %m : index
    %w = nb.lookup %t[%q] : !nb.table<?xf64>
    %xy = arith.addf %x, %y : f64
    %zw = arith.addf %z, %w : f64
    %s = arith.addf %xy, %zw : f64
    nb.yield %s : f64
  }
  return %I : f64
}
