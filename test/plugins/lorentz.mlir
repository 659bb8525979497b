// RUN: nb-opt --plugin=%lorentz %s -split-input-file -verify-diagnostics --nb-hoist-invariants --nb-vectorize=width=4 | FileCheck %s
// RUN: nb-opt --plugin=%lorentz %s -split-input-file -verify-diagnostics --nb-cpu-pipeline | FileCheck %s --check-prefix=KERNEL
// RUN: nb-opt --plugin=%lorentz %s -split-input-file -verify-diagnostics --nb-differentiate='mode=jvp parameters=a' | FileCheck %s --check-prefix=JVP

// An op of another dialect leaves loops, and has lanes.
// CHECK-LABEL: func.func @image
// CHECK: %once = own.lorentz_factor %{{.*}}, %{{.*}} : !nb.vec3<f64>
// CHECK: nb.image
// CHECK: own.lorentz_factor {{.*}} : !nb.vec3<vector<4xf64>>
// KERNEL-NOT: own.
// KERNEL: llvm.func
// KERNEL-NOT: own.
// The rule of the op itself: its result is used, and not its expansion alone.
// JVP: %[[F:.*]] = own.lorentz_factor
// JVP: arith.divf %[[F]]
func.func @image(%a: f64 {nb.name = "a"}, %n: index {nb.name = "n"}) -> tensor<?x?x?xf64> {
  %one = arith.constant 1.0 : f64
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %whole = arith.index_cast %f : index to i64
    %x = arith.sitofp %whole : i64 to f64
    %cells = nb.vec %one, %one, %one : f64
    %h = nb.vec %a, %x, %one : f64
    %g = nb.vec %a, %one, %one : f64
    %once = own.lorentz_factor %g, %cells : !nb.vec3<f64>
    %L = own.lorentz_factor %h, %cells : !nb.vec3<f64>
    %y = arith.mulf %once, %L : f64
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @wrong(%h: !nb.vec3<f64>) -> f32 {
  // expected-error @+1 {{'result' has the element type of 'hkl'}}
  %L = "own.lorentz_factor"(%h, %h) : (!nb.vec3<f64>, !nb.vec3<f64>) -> f32
  return %L : f32
}
