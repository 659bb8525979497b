// RUN: nb-opt %s | FileCheck %s

// CHECK-LABEL: func.func @parts
// CHECK: %[[X:.*]]:3 = nb.parts %{{.*}} : !nb.vec3<f64> to f64, f64, f64
// CHECK: nb.parts %{{.*}} : !nb.hkl_grid<f64> to index, index, index, index, index, index, memref<?xf64>
func.func @parts(%v: !nb.vec3<f64>, %F: !nb.hkl_grid<f64>) -> f64 {
  %x, %y, %z = nb.parts %v : !nb.vec3<f64> to f64, f64, f64
  %p:7 = nb.parts %F : !nb.hkl_grid<f64> to index, index, index, index, index, index, memref<?xf64>
  return %z : f64
}

// CHECK-LABEL: func.func @stored
// CHECK: nb.stored %{{.*}} : memref<?xf32> as tensor<?x?x?xf32>
func.func @stored(%buffer: memref<?xf32>) -> tensor<?x?x?xf32> {
  %image = nb.stored %buffer : memref<?xf32> as tensor<?x?x?xf32>
  return %image : tensor<?x?x?xf32>
}
