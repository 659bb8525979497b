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
