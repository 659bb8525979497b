// RUN: nb-opt --nb-differentiate="function=f parameters=x" --split-input-file --verify-diagnostics %s
// RUN: not nb-opt --nb-differentiate="function=f" --split-input-file %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not nb-opt --nb-differentiate="function=f parameters=a mode=sideways" --split-input-file %s 2>&1 | FileCheck %s --check-prefix=MODE

// NONE: no parameters to differentiate with respect to
// MODE: Cannot find option named 'sideways'

// expected-error@below {{no argument named 'x' to differentiate with respect to}}
func.func @f(%a: f64 {nb.name = "a"}) -> f64 {
  return %a : f64
}

// -----

// expected-error@below {{cannot differentiate with respect to 'x' of type 'index'}}
func.func @f(%a: index {nb.name = "x"}) -> index {
  return %a : index
}

// -----

// expected-note@below {{in the function 'f'}}
func.func @f(%a: f64 {nb.name = "x"}) -> vector<8xf64> {
  // expected-error@below {{no derivative rule for 'vector.broadcast'}}
  %b = vector.broadcast %a : f64 to vector<8xf64>
  return %b : vector<8xf64>
}

// -----

// expected-note@below {{in the function 'f'}}
func.func @f(%a: f64 {nb.name = "x"}, %c: i1) -> f64 {
  // expected-error@below {{no derivative rule for 'scf.if': remove branches first (nb-remove-branches)}}
  %b = scf.if %c -> f64 {
    scf.yield %a : f64
  } else {
    scf.yield %a : f64
  }
  return %b : f64
}

// -----

// A table that no loop over a named dimension runs over has no known size.
func.func @f(%t: !nb.table<?xf64> {nb.name = "x"}, %i: index) -> f64 {
  // expected-error@below {{no adjoint of this table: its size is unknown}}
  %b = nb.lookup %t[%i] : !nb.table<?xf64>
  return %b : f64
}

// -----

// expected-note@below {{in the function 'f'}}
func.func @f(%x: f64 {nb.name = "x"}, %n: index) -> f64 {
  // expected-error@below {{no derivative rule for 'scf.for': only the nb dialect's own loops have one; differentiate ahead of --convert-nb-to-loops}}
  %b = scf.for %i = %n to %n step %n iter_args(%a = %x) -> f64 {
    %c = arith.addf %a, %x : f64
    scf.yield %c : f64
  }
  return %b : f64
}

// -----

// expected-note@below {{in the function 'f'}}
func.func @f(%hkl: !nb.vec3<f64> {nb.name = "x"}, %cells: !nb.vec3<f64>) -> f64 {
  // expected-error@below {{'nb.lattice_factor' computes in 'f32' what it is given in 'f64': differentiate ahead of nb-set-precision}}
  %F = nb.lattice_factor square %hkl, %cells : !nb.vec3<f64> -> f32
  %b = arith.extf %F : f32 to f64
  return %b : f64
}

// -----

func.func @f(%x: f64 {nb.name = "x"}, %image: tensor<?x?x?xf64>, %n: index) -> tensor<?x?x?xf64> {
  // expected-error@below {{no derivative of the light of an image that is not computed by this function}}
  %light = nb.point_spread gauss %image, fwhm %x, pixel_size %x, radius %n : tensor<?x?x?xf64>
  return %light : tensor<?x?x?xf64>
}

// -----

func.func @f(%x: f64 {nb.name = "x"}, %n: index) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  // expected-error@below {{'nb.point_spread' has no further derivative with respect to a number}}
  %light = nb.point_spread gauss %image, fwhm %x, pixel_size %x, radius %n {order = 2 : i64} : tensor<?x?x?xf64>
  return %light : tensor<?x?x?xf64>
}

// -----

func.func @f(%x: f64 {nb.name = "x"}, %n: index) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  %turned = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error@below {{no derivative rule for 'nb.read_pixel' of another pixel than that of its nb.image}}
    %y = nb.read_pixel %image[%p, %f, %s] : tensor<?x?x?xf64>
    nb.yield %y : f64
  }
  return %turned : tensor<?x?x?xf64>
}

// -----

// expected-error@below {{no function 'f' to differentiate}}
module {
}
