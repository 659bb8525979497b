// RUN: nb-opt %s --nb-vectorize --split-input-file --verify-diagnostics

func.func @branch(%n: index, %size: f64) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %c = arith.cmpf olt, %x, %size : f64
    // expected-error @below {{'scf.if' branches on a pixel; run --nb-remove-branches first}}
    %y = scf.if %c -> f64 {
      scf.yield %x : f64
    } else {
      scf.yield %size : f64
    }
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @lookup_by_pixel(%n: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error @below {{'nb.lookup' looks a table up by pixel; tables are indexed by the dimensions of sums}}
    %x = nb.lookup %t[%f] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @side_effect(%n: index, %size: f64) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    // expected-error @below {{'nb.probe' cannot be computed in lanes}}
    nb.probe "x" %x : f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @table_inside(%n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error @below {{a table cannot be made inside an image; run --nb-hoist-invariants first}}
    %t = nb.tabulate source %i in %n : !nb.table<?xf64> {
      nb.yield %size : f64
    }
    %x = nb.lookup %t[%s] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}
