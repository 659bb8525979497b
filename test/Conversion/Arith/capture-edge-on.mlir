// RUN: nb-run %s --arg rho=0 --arg layer=0 | FileCheck %s --check-prefix=FIRST
// RUN: nb-run %s --arg rho=0 --arg layer=0 --no-fuse | FileCheck %s --check-prefix=FIRST
// RUN: nb-run %s --arg rho=0 --arg layer=1 | FileCheck %s --check-prefix=SECOND
// RUN: nb-run %s --arg rho=0 --arg layer=1 --no-fuse | FileCheck %s --check-prefix=SECOND

// A ray along the sensor's plane is absorbed by the first layer, on both engines: 0 times an infinite
// path would be NaN.

// FIRST: {{(: |= )1$}}
// SECOND: {{(: |= )0$}}
func.func @capture(%rho: f64 {nb.name = "rho"}, %layer: f64 {nb.name = "layer"}) -> f64 {
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %spacing = arith.constant 1.0e-4 : f64
  %depth = arith.constant 2.0e-4 : f64
  %diffracted = nb.vec %one, %zero, %rho : f64
  %normal = nb.vec %zero, %zero, %one : f64
  %c = nb.capture_fraction %diffracted, %normal, %layer, %spacing, %depth : !nb.vec3<f64>
  return %c : f64
}
