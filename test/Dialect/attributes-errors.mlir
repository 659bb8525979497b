// RUN: nb-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{'nb.colour' is not an attribute of the nb dialect, or not of an op}}
func.func @unknown() attributes {nb.colour} {
  return
}

// -----

// expected-error@below {{arguments 0 and 2 are both called "cell_a"}}
func.func @twice(%a: f64 {nb.name = "cell_a"}, %b: f64, %c: f64 {nb.name = "cell_a"}) {
  return
}

// -----

// expected-error@below {{'nb.unit' of argument 1 must be a text, but is 3 : i64}}
func.func @unit(%a: f64, %b: f64 {nb.unit = 3}) {
  return
}

// -----

// expected-error@below {{results 0 and 1 are both called "image"}}
func.func @results(%a: f64) -> (f64 {nb.name = "image"}, f64 {nb.name = "image"}) {
  return %a, %a : f64, f64
}

// -----

// expected-error@below {{'nb.loop' is not an attribute of the nb dialect, or not of arguments}}
func.func @argument(%a: f64 {nb.loop = #nb.dim<slow>}) {
  return
}

// -----

func.func @place(%a: f64) -> f64 {
  // expected-error@below {{'nb.loop' belongs on the loops of an image}}
  %b = arith.addf %a, %a {nb.loop = #nb.dim<slow>} : f64
  return %b : f64
}

// -----

func.func @dimension(%n: index) {
  // expected-error@below {{'nb.loop' must be #nb.dim<panel>, #nb.dim<slow> or #nb.dim<fast>, but is #nb.dim<phi>}}
  scf.for %i = %n to %n step %n {
  } {nb.loop = #nb.dim<phi>}
  return
}

// -----

func.func @guard(%c: i1, %x: f64) -> f64 {
  // expected-error@below {{'nb.guard' has no value and belongs on an arith.select of an index}}
  %y = arith.select %c, %x, %x {nb.guard} : f64
  return %y : f64
}

// -----

func.func @memory(%n: index) {
  // expected-error@below {{'nb.accumulator' belongs on memory of doubles, memref<?xf64>}}
  %a = memref.alloc(%n) {nb.accumulator} : memref<?xf32>
  return
}

// -----

func.func @value(%n: index) {
  // expected-error@below {{'nb.scattered' has no value and belongs on memref.atomic_rmw}}
  %a = memref.alloc(%n) {nb.scattered} : memref<?xf64>
  return
}

// -----

func.func @value(%n: index) {
  // expected-error@below {{'nb.scratch' has no value, but got 1 : i64}}
  %a = memref.alloc(%n) {nb.scratch = 1} : memref<?xf64>
  return
}
