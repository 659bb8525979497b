// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @disorder
// CHECK: nb.diffuse_factor %{{.*}}, %{{.*}} lengths %{{.*}} displacements %{{.*}} : !nb.vec3<f64>
func.func @disorder(%v: !nb.vec3<f64>) -> f64 {
  %d = nb.diffuse_factor %v, %v lengths %v displacements %v : !nb.vec3<f64>
  return %d : f64
}
