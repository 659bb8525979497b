// RUN: nb-opt %s --nb-split-response | FileCheck %s
// RUN: nb-opt %s --nb-split-response --verify-diagnostics --remarks-filter=nb-split-response -o /dev/null

// The photons are what is left of the stages, in f64 although the image was to be f32.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: -> tensor<?x?x?xf64> {
// CHECK-NEXT: %[[PHOTONS:.*]] = nb.image
// CHECK-NOT: nb.point_spread
// CHECK-NOT: nb.gain
// CHECK: return %[[PHOTONS]] : tensor<?x?x?xf64>
func.func @chain(%n: index, %x: f64, %gain: f64) -> tensor<?x?x?xf32> {
  %photons = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    nb.yield %x : f64
  }
  // expected-remark@below {{the function returns the photons; what calls it spreads them}}
  %light = nb.point_spread gauss %photons, fwhm %x, pixel_size %x, radius %n : tensor<?x?x?xf64>
  %adu = nb.gain %light, %gain : tensor<?x?x?xf64> to tensor<?x?x?xf32>
  return %adu : tensor<?x?x?xf32>
}

// A gain ahead of it is still the function's.
// CHECK-LABEL: func.func @before(
// CHECK: %[[GAINED:.*]] = nb.gain
// CHECK-NEXT: return %[[GAINED]]
func.func @before(%image: tensor<?x?x?xf64>, %n: index, %x: f64) -> tensor<?x?x?xf64> {
  %gained = nb.gain %image, %x : tensor<?x?x?xf64>
  // expected-remark@below {{the function returns the photons}}
  %once = nb.point_spread gauss %gained, fwhm %x, pixel_size %x, radius %n : tensor<?x?x?xf64>
  // expected-remark@below {{the function returns the photons}}
  %twice = nb.point_spread fiber %once, fwhm %x, pixel_size %x, radius %n : tensor<?x?x?xf64>
  return %twice : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @read(
// CHECK: nb.point_spread
func.func @read(%image: tensor<?x?x?xf64>, %n: index, %x: f64) -> f64 {
  // expected-remark@below {{'nb.point_spread' stays: ops other than stages use its image}}
  %light = nb.point_spread gauss %image, fwhm %x, pixel_size %x, radius %n : tensor<?x?x?xf64>
  %pixel = nb.read_pixel %light[%n, %n, %n] : tensor<?x?x?xf64>
  return %pixel : f64
}
