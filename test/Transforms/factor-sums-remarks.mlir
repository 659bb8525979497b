// RUN: nb-opt %s --nb-factor-sums --verify-diagnostics --remarks-filter=nb-factor-sums -o /dev/null

// How many factors left a sum, and which sums a condition left.

func.func @done(%n: index, %nl: index, %nm: index, %step: f64, %angles: !nb.table<?xf64>,
                %pixels: !nb.table<?x!nb.vec3<f64>>, %axis: !nb.vec3<f64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-remark@below {{took 1 factor(s) out of a sum}}
    %I = nb.sum source %i in %nl, mosaic %j in %nm : f64 {
      %unit = nb.normalize %axis : !nb.vec3<f64>
      %v = nb.lookup %pixels[%f] : !nb.table<?x!nb.vec3<f64>>
      %w = nb.lookup %pixels[%i] : !nb.table<?x!nb.vec3<f64>>
      %d = nb.cross %v, %w : !nb.vec3<f64>
      %a = nb.lookup %angles[%j] : !nb.table<?xf64>
      %U = nb.axis_rotation %unit, %a : !nb.vec3<f64>
      %t = nb.transform %U, %d : !nb.vec3<f64>
      %x = nb.norm %t : !nb.vec3<f64>
      %y = arith.mulf %x, %step fastmath<fast> : f64
      nb.yield %y : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}


func.func @condition(%n: index, %c: i1, %t: !nb.table<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  // expected-remark@below {{took a condition out of a sum}}
  %I = nb.sum source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %y = scf.if %c -> f64 {
      scf.yield %x : f64
    } else {
      scf.yield %zero : f64
    }
    nb.yield %y : f64
  }
  return %I : f64
}
