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

// -----

func.func @count(%n: index, %w: f64) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    // expected-error @below {{'nb.sum' has a count that depends on the pixel, and pixels in lanes count together; take the largest count of any pixel, and yield 0 (arith.select) beyond that of a pixel}}
    %x = nb.sum source %k in %f : f64 {
      nb.yield %w : f64
    }
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

// Lanes that do not take %i read entry 0 and use it.
func.func @lookup_by_choice(%n: index, %i: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %zero = arith.constant 0 : index
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %c = arith.cmpi ult, %f, %i : index
    %j = arith.select %c, %i, %zero : index
    // expected-error @below {{'nb.lookup' looks a table up by pixel}}
    %x = nb.lookup %t[%j] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @trips(%n: index, %one: index) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    // expected-error @below {{'scf.for' runs a number of times that depends on the pixel, and pixels in lanes run together; run it as often as any pixel needs, and choose with arith.select}}
    %x = scf.for %k = %one to %f step %one iter_args(%a = %column) -> f64 {
      scf.yield %a : f64
    }
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @carried_index(%n: index, %one: index, %w: f64) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    // expected-error @below {{'scf.for' carries an index that depends on the pixel; carry it as a number (arith.index_cast, arith.sitofp)}}
    %x, %at = scf.for %k = %one to %n step %one iter_args(%a = %w, %j = %one) -> (f64, index) {
      scf.yield %a, %f : f64, index
    }
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @half(%n: index) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    // expected-error @below {{'arith.truncf' makes a number of a type in which kernels do not compute; take f64 or f32}}
    %half = arith.truncf %column : f64 to f16
    %x = arith.extf %half : f16 to f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @call(%n: index) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    // expected-error @below {{'func.call' calls a function, which takes no lanes; --inline writes its body here}}
    %x = func.call @square(%column) : (f64) -> f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

func.func private @square(%x: f64) -> f64

// -----

func.func @image_in_image(%n: index) -> tensor<?x?x?xf64> {
  // expected-note @below {{in the image vectorized here}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error @below {{'nb.image' stands inside an image; write a sum over its pixels (nb.sum)}}
    %total = nb.image panel %q in %n, slow %t in %n, fast %g in %n : f64 {
      %both = arith.addi %f, %g : index
      %i = arith.index_cast %both : index to i64
      %x = arith.sitofp %i : i64 to f64
      nb.yield %x : f64
    }
    nb.yield %total : f64
  }
  return %img : tensor<?x?x?xf64>
}
