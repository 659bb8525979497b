// RUN: nb-opt %s --split-input-file --verify-diagnostics

func.func @gain_C1(%image: tensor<?x?xf64>, %gain: f64) -> tensor<?x?xf64> {
  // expected-error@below {{image and result must be rank-3 tensors of unknown sizes, of f64 or f32, but got 'tensor<?x?xf64>'}}
  %r = nb.gain %image, %gain : tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

func.func @gain_C1_result(%image: tensor<?x?x?xf64>, %gain: f64) -> tensor<?x?x?xi32> {
  // expected-error@below {{image and result must be rank-3 tensors of unknown sizes, of f64 or f32, but got 'tensor<?x?x?xi32>'}}
  %r = nb.gain %image, %gain : tensor<?x?x?xf64> to tensor<?x?x?xi32>
  return %r : tensor<?x?x?xi32>
}

// -----

func.func @gain_map_C1(%image: tensor<?x4x?xf64>, %map: tensor<?x4x?xf64>) -> tensor<?x4x?xf64> {
  // expected-error@below {{image and result must be rank-3 tensors of unknown sizes, of f64 or f32, but got 'tensor<?x4x?xf64>'}}
  %r = nb.gain_map %image, %map : tensor<?x4x?xf64>
  return %r : tensor<?x4x?xf64>
}

// -----

func.func @counting_loss_C1(%image: tensor<?x?xf64>, %t: f64) -> tensor<?x?xf64> {
  // expected-error@below {{image and result must be rank-3 tensors of unknown sizes, of f64 or f32, but got 'tensor<?x?xf64>'}}
  %r = nb.counting_loss %image, %t, %t : tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

func.func @point_spread_C1(%image: tensor<?x?xf64>, %w: f64, %r: index) -> tensor<?x?xf64> {
  // expected-error@below {{image and result must be rank-3 tensors of unknown sizes, of f64 or f32, but got 'tensor<?x?xf64>'}}
  %s = nb.point_spread gauss %image, fwhm %w, pixel_size %w, radius %r : tensor<?x?xf64>
  return %s : tensor<?x?xf64>
}

// -----

func.func @point_spread_C2(%image: tensor<?x?x?xf64>, %w: f64, %r: index) -> tensor<?x?x?xf64> {
  // expected-error@below {{roi must have four bounds: fast_min, fast_max, slow_min, slow_max; got 2}}
  %s = nb.point_spread gauss %image, fwhm %w, pixel_size %w, radius %r roi(%r, %r) : tensor<?x?x?xf64>
  return %s : tensor<?x?x?xf64>
}

// -----

func.func @point_spread_C3(%image: tensor<?x?x?xf64>, %w: f64, %r: index) -> tensor<?x?x?xf64> {
  // expected-error@below {{mask must be a rank-3 tensor of i8, but got 'tensor<?x?x?xf64>'}}
  %s = nb.point_spread gauss %image, fwhm %w, pixel_size %w, radius %r
      mask(%image : tensor<?x?x?xf64>) : tensor<?x?x?xf64>
  return %s : tensor<?x?x?xf64>
}

// -----

func.func @point_spread_C4(%image: tensor<?x?x?xf64>, %w: f64, %r: index) -> tensor<?x?x?xf64> {
  // expected-error@below {{order must be 0, 1 or 2, but got 3}}
  %s = nb.point_spread gauss %image, fwhm %w, pixel_size %w, radius %r {order = 3 : i64}
      : tensor<?x?x?xf64>
  return %s : tensor<?x?x?xf64>
}
