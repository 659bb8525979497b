// RUN: nb-opt %s --convert-nb-to-arith --split-input-file --verify-diagnostics

func.func @loop(%n: index, %x: f64) -> f64 {
  // expected-error @below {{'nb.sum' has no lowering to arithmetic; convert loops and tables with --convert-nb-to-loops and erase probes with --nb-erase-probes first}}
  %I = nb.sum source %i in %n : f64 {
    nb.yield %x : f64
  }
  return %I : f64
}

// -----

func.func @escaping_vector(%x: f64) -> !nb.vec3<f64> {
  // expected-error @below {{value of type '!nb.vec3<f64>' reaches an op that cannot be lowered to arithmetic}}
  %v = nb.vec %x, %x, %x : f64
  // expected-note @below {{used here}}
  return %v : !nb.vec3<f64>
}

// -----

func.func @power(%x: i64, %n: i64) -> i64 {
  // expected-error @below {{'math.ipowi' has no code; write it with arith.muli, or as math.fpowi of floats}}
  %y = math.ipowi %x, %n : i64
  return %y : i64
}
