// RUN: nb-opt %s --nb-hoist-invariants --nb-tabulate-invariants --verify-diagnostics --remarks-filter=nb-tabulate-invariants -o /dev/null

// Each table, by its dimensions.

func.func @done(%n: index, %nl: index, %nm: index, %step: f64, %angles: !nb.table<?xf64>,
                %pixels: !nb.table<?x!nb.vec3<f64>>, %axis: !nb.vec3<f64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %I = nb.sum source %i in %nl, mosaic %j in %nm : f64 {
      %unit = nb.normalize %axis : !nb.vec3<f64>
      %v = nb.lookup inbounds %pixels[%f] : !nb.table<?x!nb.vec3<f64>>
      %w = nb.lookup inbounds %pixels[%i] : !nb.table<?x!nb.vec3<f64>>
      %d = nb.cross %v, %w : !nb.vec3<f64>
      %a = nb.lookup inbounds %angles[%j] : !nb.table<?xf64>
      // expected-remark@below {{tabulated 1 value(s) over mosaic: !nb.table<?x!nb.mat3<f64>>}}
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

// What stays in the image although it does not depend on the pixel, and why.

func.func @not_done(%n: index, %m: memref<f64>, %table: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %pixel = nb.lookup inbounds %table[%f] : !nb.table<?xf64>
    %I = nb.sum source %i in %n : f64 {
      %w = nb.lookup inbounds %table[%i] : !nb.table<?xf64>
      // expected-remark@below {{tabulated 1 value(s) over source: !nb.table<?xf64>}}
      %root = math.sqrt %w : f64
      // expected-remark@below {{'vector.broadcast' is computed for every pixel: a table cannot hold its result}}
      %lanes = vector.broadcast %root : f64 to vector<8xf64>
      %x = memref.load %m[] : memref<f64>
      %J = nb.sum source %j in %n : f64 {
        %v = nb.lookup inbounds %table[%j] : !nb.table<?xf64>
        // expected-remark@below {{'arith.divf' is computed for every pixel: it depends on two loops over source}}
        %vw = arith.divf %v, %root : f64
        // expected-remark@below {{'math.exp' is computed for every pixel: it depends on two loops over source}}
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
