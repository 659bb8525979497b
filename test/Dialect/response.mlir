// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @response
// CHECK: %[[GAINED:.*]] = nb.gain_map %{{.*}}, %{{.*}} : tensor<?x?x?xf64>
// CHECK: nb.gain %[[GAINED]], %{{.*}} : tensor<?x?x?xf64> to tensor<?x?x?xf32>
func.func @response(%photons: tensor<?x?x?xf64>, %map: tensor<?x?x?xf64>, %gain: f64)
    -> tensor<?x?x?xf32> {
  %gained = nb.gain_map %photons, %map : tensor<?x?x?xf64>
  %adu = nb.gain %gained, %gain : tensor<?x?x?xf64> to tensor<?x?x?xf32>
  return %adu : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @counting_loss
// CHECK: %[[COUNTS:.*]] = nb.counting_loss %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x?xf64>
// CHECK: nb.counting_loss %[[COUNTS]], %{{.*}}, %{{.*}} : tensor<?x?x?xf64> to tensor<?x?x?xf32>
func.func @counting_loss(%photons: tensor<?x?x?xf64>, %dead: f64, %exposure: f64)
    -> tensor<?x?x?xf32> {
  %counts = nb.counting_loss %photons, %dead, %exposure : tensor<?x?x?xf64>
  %fewer = nb.counting_loss %counts, %dead, %exposure : tensor<?x?x?xf64> to tensor<?x?x?xf32>
  return %fewer : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @point_spread
// CHECK: nb.point_spread gauss %{{.*}}, fwhm %{{.*}}, pixel_size %{{.*}}, radius %{{.*}} : tensor<?x?x?xf64>
// CHECK: nb.point_spread fiber %{{.*}}, fwhm %{{.*}}, pixel_size %{{.*}}, radius %[[R:.*]] roi(%[[R]], %[[R]], %[[R]], %[[R]]) mask(%{{.*}} : tensor<?x?x?xi8>) {order = 1 : i64} : tensor<?x?x?xf64> to tensor<?x?x?xf32>
func.func @point_spread(%photons: tensor<?x?x?xf64>, %w: f64, %p: f64, %r: index,
                        %mask: tensor<?x?x?xi8>) -> tensor<?x?x?xf32> {
  %light = nb.point_spread gauss %photons, fwhm %w, pixel_size %p, radius %r : tensor<?x?x?xf64>
  %slope = nb.point_spread fiber %light, fwhm %w, pixel_size %p, radius %r roi(%r, %r, %r, %r)
      mask(%mask : tensor<?x?x?xi8>) {order = 1 : i64} : tensor<?x?x?xf64> to tensor<?x?x?xf32>
  return %slope : tensor<?x?x?xf32>
}
