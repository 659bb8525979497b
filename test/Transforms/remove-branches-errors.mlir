// RUN: nb-opt %s --nb-remove-branches --split-input-file --verify-diagnostics

func.func @side_effect(%c: i1, %x: f64) -> f64 {
  // expected-note@below {{in this branch}}
  %r = scf.if %c -> f64 {
    // expected-error@below {{'nb.probe' has side effects and stands in a branch that cannot become a select}}
    nb.probe "x" %x : f64
    scf.yield %x : f64
  } else {
    scf.yield %x : f64
  }
  return %r : f64
}

// -----

func.func @in_a_sum(%c: i1, %n: index, %m: memref<f64>, %zero: f64) -> f64 {
  // expected-note@below {{in this branch}}
  %r = scf.if %c -> f64 {
    scf.yield %zero : f64
  } else {
    %I = nb.sum source %i in %n : f64 {
      // expected-error@below {{'memref.load' has side effects}}
      %x = memref.load %m[] : memref<f64>
      nb.yield %x : f64
    }
    scf.yield %I : f64
  }
  return %r : f64
}

// -----

func.func @undefined(%c: i1, %i: index, %x: f64, %image: tensor<?x?x?xf64>) -> f64 {
  // expected-note@below {{in this branch}}
  %r = scf.if %c -> f64 {
    // expected-error@below {{'nb.read_pixel' may be undefined if executed}}
    %y = nb.read_pixel %image[%i, %i, %i] : tensor<?x?x?xf64>
    scf.yield %y : f64
  } else {
    scf.yield %x : f64
  }
  return %r : f64
}

// -----

func.func @endless(%c: i1, %x: f64) -> f64 {
  // expected-note@below {{in this branch}}
  %r = scf.if %c -> f64 {
    // expected-error@below {{'scf.while' may be undefined if executed}}
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      scf.yield
    }
    scf.yield %x : f64
  } else {
    scf.yield %x : f64
  }
  return %r : f64
}

// -----

func.func @trip_count(%n: index, %one: index, %x: f64) -> tensor<?x?x?xf64> {
  // expected-note@below {{in this image}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error@below {{'scf.for' depends on the pixel or the sample: its path differs between lanes}}
    %r = scf.for %i = %one to %s step %one iter_args(%a = %x) -> f64 {
      %b = arith.addf %a, %x : f64
      scf.yield %b : f64
    }
    nb.yield %r : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @step(%n: index, %zero: index, %x: f64) -> tensor<?x?x?xf64> {
  // expected-note@below {{in this image}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error@below {{'scf.for' depends on the pixel or the sample: its path differs between lanes}}
    %r = scf.for %i = %zero to %n step %s iter_args(%a = %x) -> f64 {
      %b = arith.addf %a, %x : f64
      scf.yield %b : f64
    }
    nb.yield %r : f64
  }
  return %img : tensor<?x?x?xf64>
}
