// RUN: nb-opt %s --nb-split-sums --verify-diagnostics --remarks-filter=nb-split-sums -o /dev/null

// The dimensions of each of the sums that one was split into.

func.func @done(%n: index, %nl: index, %nm: index, %step: f64, %angles: !nb.table<?xf64>,
                %pixels: !nb.table<?x!nb.vec3<f64>>, %axis: !nb.vec3<f64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-remark@below {{split a sum: source | mosaic}}
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


// A lookup alone is not worth a loop.

func.func @cheap(%n: index, %t: !nb.table<?xf64>) -> f64 {
  // expected-remark@below {{stays one loop: computations that need only some of its dimensions cost at most}}
  %I = nb.sum source %i in %n, mosaic %j in %n : f64 {
    %x = nb.lookup inbounds %t[%i] : !nb.table<?xf64>
    %y = nb.lookup inbounds %t[%j] : !nb.table<?xf64>
    %z = arith.mulf %x, %y : f64
    nb.yield %z : f64
  }
  return %I : f64
}
