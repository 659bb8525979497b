// RUN: nb-opt %s --split-input-file --verify-diagnostics

func.func @image_C1(%n: index, %x: f64) {
  // expected-error@below {{dimensions must be panel, slow, fast}}
  %img = nb.image panel %p in %n, fast %f in %n, slow %s in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @image_C2(%n: index, %x: vector<8xf64>) {
  // expected-error@below {{induction variable of fast must be 'vector<8xindex>', but got 'index'}}
  "nb.image"(%n, %n, %n) <{dimensions = [#nb.dim<panel>, #nb.dim<slow>, #nb.dim<fast>],
      lanes = 8 : i64, operandSegmentSizes = array<i32: 3, 0, 0>}> ({
  ^bb0(%p: index, %s: index, %f: index):
    nb.yield %x : vector<8xf64>
  }) : (index, index, index) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @image_C2_rows(%n: index, %x: vector<8xf64>) {
  // expected-error@below {{rows must divide the lanes, but got 3}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) rows(3) : tensor<?x?x?xf64> {
    nb.yield %x : vector<8xf64>
  }
  return
}

// -----

func.func @read_pixel_C2_rows(%image: tensor<?x?x?xf64>, %p: index, %s: vector<4xindex>, %f: vector<8xindex>) {
  // expected-error@below {{slow must have the lanes of fast, 'vector<8xindex>', but got 'vector<4xindex>'}}
  %v = "nb.read_pixel"(%image, %p, %s, %f)
      : (tensor<?x?x?xf64>, index, vector<4xindex>, vector<8xindex>) -> vector<8xf64>
  return
}

// -----

func.func @image_C2_lanes(%n: index, %x: f64) {
  // expected-error@below {{lanes must be positive, but got 0}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(0) : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @image_C3(%n: index, %x: f32) {
  // expected-error@below {{body must yield ('f64'), but yields ('f32')}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-note@below {{yielded here}}
    nb.yield %x : f32
  }
  return
}

// -----

func.func @image_C4(%n: index, %x: f64) {
  // expected-error@below {{result must be a rank-3 tensor of unknown sizes, but got 'tensor<?x?xf64>'}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @image_C5(%n: index, %x: f64) {
  // expected-error@below {{roi must have four bounds (fast_min, fast_max, slow_min, slow_max), but got 2}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n roi(%n, %n) : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @image_C6(%n: index, %x: f64, %mask: tensor<?x?x?xi1>) {
  // expected-error@below {{mask must be a rank-3 tensor of i8, but got 'tensor<?x?x?xi1>'}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n mask(%mask : tensor<?x?x?xi1>)
      : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @sum_C1(%n: index, %x: f64) {
  // expected-error@below {{expected one count and one index argument per dimension}}
  "nb.sum"(%n) <{dimensions = [#nb.dim<source>, #nb.dim<phi>]}> ({
  ^bb0(%i: index):
    nb.yield %x : f64
  }) : (index) -> f64
  return
}

// -----

func.func @sum_C1_type(%n: index, %x: f64) {
  // expected-error@below {{induction variables must be index, but got 'i32'}}
  "nb.sum"(%n) <{dimensions = [#nb.dim<source>]}> ({
  ^bb0(%i: i32):
    nb.yield %x : f64
  }) : (index) -> f64
  return
}

// -----

func.func @sum_C2(%n: index, %x: f64) {
  // expected-error@below {{body must yield ('f64'), but yields ('f64', 'f64')}}
  %I = nb.sum source %i in %n : f64 {
    // expected-note@below {{yielded here}}
    nb.yield %x, %x : f64, f64
  }
  return
}

// -----

func.func @sum_C3(%n: index, %x: f64) {
  // expected-error@below {{dimension 'phi' appears twice}}
  %I = nb.sum phi %i in %n, phi %j in %n : f64 {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @sum_syntax(%n: index, %x: f64) {
  // expected-error@below {{unknown dimension 'orientation': expected panel, slow, fast, layer, subslow, subfast, source, phi or mosaic}}
  %I = nb.sum orientation %i in %n : f64 {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @first_C1(%n: index, %x: f64, %c: i1) {
  // expected-error@below {{expected one count and one index argument per dimension}}
  "nb.first"() <{dimensions = []}> ({
    nb.yield %c, %x : i1, f64
  }) : () -> f64
  return
}

// -----

func.func @first_C2(%n: index, %x: f64) {
  // expected-error@below {{body must yield ('i1', 'f64'), but yields ('f64')}}
  %v = nb.first source %i in %n : f64 {
    // expected-note@below {{yielded here}}
    nb.yield %x : f64
  }
  return
}

// -----

func.func @first_C3(%n: index, %x: f64, %c: i1) {
  // expected-error@below {{dimension 'source' appears twice}}
  %v = nb.first source %i in %n, source %j in %n : f64 {
    nb.yield %c, %x : i1, f64
  }
  return
}

// -----

func.func @tabulate_C1(%n: index, %x: f64) {
  // expected-error@below {{expected one count and one index argument per dimension}}
  "nb.tabulate"(%n, %n) <{dimensions = [#nb.dim<source>]}> ({
  ^bb0(%i: index):
    nb.yield %x : f64
  }) : (index, index) -> !nb.table<?xf64>
  return
}

// -----

func.func @tabulate_C2_rank(%n: index, %x: f64) {
  // expected-error@below {{result must be a table of 1 dimensions, but got '!nb.table<?x?xf64>'}}
  %t = nb.tabulate source %i in %n : !nb.table<?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @tabulate_C2_type(%n: index, %x: f32) {
  // expected-error@below {{body must yield ('f64'), but yields ('f32')}}
  %t = nb.tabulate source %i in %n : !nb.table<?xf64> {
    // expected-note@below {{yielded here}}
    nb.yield %x : f32
  }
  return
}

// -----

func.func @tabulate_C3(%n: index, %x: f64) {
  // expected-error@below {{dimension 'mosaic' appears twice}}
  %t = nb.tabulate mosaic %i in %n, mosaic %j in %n : !nb.table<?x?xf64> {
    nb.yield %x : f64
  }
  return
}

// -----

func.func @lookup_C1(%i: index, %t: !nb.table<?x?xf64>) {
  // expected-error@below {{expected 2 indices for '!nb.table<?x?xf64>', but got 1}}
  %x = nb.lookup %t[%i] : !nb.table<?x?xf64>
  return
}

// -----

func.func @lookup_C2_negative(%t: !nb.table<?xf64>) {
  %i = arith.constant -1 : index
  // expected-error@below {{reads entry -1 of '!nb.table<?xf64>'}}
  %x = nb.lookup %t[%i] : !nb.table<?xf64>
  return
}

// -----

func.func @lookup_C2_size(%v: f64) {
  %n = arith.constant 4 : index
  %t = nb.tabulate source %i in %n : !nb.table<?xf64> {
    nb.yield %v : f64
  }
  // expected-error@below {{reads entry 4 of a table that has 4}}
  %x = nb.lookup %t[%n] : !nb.table<?xf64>
  return
}

// -----

func.func @yield_parent(%x: f64) {
  // expected-error@below {{expects parent op to be one of 'nb.image, nb.sum, nb.first, nb.tabulate'}}
  nb.yield %x : f64
}
