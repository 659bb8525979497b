// RUN: nb-opt %s --split-input-file --verify-diagnostics

func.func @parts_c1(%s: f64) {
  %v = nb.vec %s, %s, %s : f64
  // expected-error@below {{'nb.parts' op only an argument of a function has parts}}
  %x, %y, %z = nb.parts %v : !nb.vec3<f64> to f64, f64, f64
  return
}

// -----

func.func @parts_c2(%t: !nb.table<?x!nb.vec3<f64>>) {
  // expected-error@below {{the parts of '!nb.table<?x!nb.vec3<f64>>' are ('memref<?xf64>'), but got ('memref<?xf32>')}}
  %memory = nb.parts %t : !nb.table<?x!nb.vec3<f64>> to memref<?xf32>
  return
}

// -----

func.func @stored_c1(%buffer: memref<?xf64>) -> tensor<?x?x?xf32> {
  // expected-error@below {{a value of type 'tensor<?x?x?xf32>' lies in 'memref<?xf32>', but got 'memref<?xf64>'}}
  %image = nb.stored %buffer : memref<?xf64> as tensor<?x?x?xf32>
  return %image : tensor<?x?x?xf32>
}
