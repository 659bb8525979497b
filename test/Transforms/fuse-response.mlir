// RUN: nb-opt %s --nb-fuse-response | FileCheck %s
// RUN: nb-opt %s --nb-fuse-response --verify-diagnostics --remarks-filter=nb-fuse-response -o /dev/null

// Both stages become factors of the pixel, which is rounded once, at the end.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[N:.*]]: index, %[[X:.*]]: f64, %[[GAIN:.*]]: f64, %[[MAP:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[ADU:.*]] = nb.image panel %[[P:.*]] in %[[N]], slow %[[S:.*]] in %[[N]], fast %[[F:.*]] in %[[N]] roi(%[[N]], %[[N]], %[[N]], %[[N]]) : tensor<?x?x?xf32> {
// CHECK-NEXT: %[[OWN:.*]] = nb.read_pixel %[[MAP]][%[[P]], %[[S]], %[[F]]]
// CHECK-NEXT: %[[GAINED:.*]] = arith.mulf %[[X]], %[[OWN]]
// CHECK-NEXT: %[[ALL:.*]] = arith.mulf %[[GAINED]], %[[GAIN]]
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[ALL]] : f64 to f32
// CHECK-NEXT: nb.yield %[[ROUNDED]] : f32
// CHECK: return %[[ADU]]
func.func @chain(%n: index, %x: f64, %gain: f64, %map: tensor<?x?x?xf64>) -> tensor<?x?x?xf32> {
  %photons = nb.image panel %p in %n, slow %s in %n, fast %f in %n
      roi(%n, %n, %n, %n) : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  // expected-remark@below {{'nb.gain_map' is now part of the image's body}}
  %gained = nb.gain_map %photons, %map : tensor<?x?x?xf64>
  // expected-remark@below {{'nb.gain' is now part of the image's body}}
  %adu = nb.gain %gained, %gain : tensor<?x?x?xf64> to tensor<?x?x?xf32>
  return %adu : tensor<?x?x?xf32>
}

// Where the photons are wanted too, one sweep computes both.
// CHECK-LABEL: func.func @both(
// CHECK: %[[R:.*]]:3 = nb.image {{.*}} : f64, tensor<?x?x?xf64>, tensor<?x?x?xf64> {
// CHECK: nb.yield %[[X:.*]], %[[X]], %{{.*}} : f64, f64, f64
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @both(%n: index, %x: f64, %gain: f64) -> (f64, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %sum, %photons = nb.image panel %p in %n, slow %s in %n, fast %f in %n : f64, tensor<?x?x?xf64> {
    nb.yield %x, %x : f64, f64
  }
  // expected-remark@below {{'nb.gain' is now part of the image's body}}
  %adu = nb.gain %photons, %gain : tensor<?x?x?xf64>
  return %sum, %photons, %adu : f64, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @argument(
// CHECK: nb.gain
func.func @argument(%image: tensor<?x?x?xf64>, %gain: f64) -> tensor<?x?x?xf64> {
  // expected-remark@below {{'nb.gain' stays a stage of its own: its image is not computed by this function}}
  %adu = nb.gain %image, %gain : tensor<?x?x?xf64>
  return %adu : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @later(
// CHECK: nb.image
// CHECK: nb.gain
func.func @later(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %photons = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  %gain = arith.addf %x, %x : f64
  // expected-remark@below {{'nb.gain' stays a stage of its own: what it needs is computed after its image}}
  %adu = nb.gain %photons, %gain : tensor<?x?x?xf64>
  return %adu : tensor<?x?x?xf64>
}
