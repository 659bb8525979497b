// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --canonicalize --cse | FileCheck %s

// Probes take values of any type, and nothing but nb-erase-probes removes or merges them.

// CHECK-LABEL: func.func @probes
// CHECK: nb.probe "F_latt" %{{.*}} : f64
// CHECK-NEXT: nb.probe "F_latt" %{{.*}} : f64
// CHECK-NEXT: nb.probe "hkl" %{{.*}} : !nb.vec3<f64>
func.func @probes(%L: f64, %hkl: !nb.vec3<f64>) {
  nb.probe "F_latt" %L : f64
  nb.probe "F_latt" %L : f64
  nb.probe "hkl" %hkl : !nb.vec3<f64>
  return
}
