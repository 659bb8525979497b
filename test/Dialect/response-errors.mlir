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
