// RUN: nb-opt %s --nb-cpu-pipeline='derivative=vjp(default_F)' | FileCheck %s
// RUN: nb-opt %s --nb-gpu-pipeline='derivative=vjp(default_F)' | FileCheck %s --check-prefix=GPU

// The gradient of an image in single precision is a sum in it over the pixels.

// CHECK: llvm.func @image_vjp_finish
// GPU: llvm.func @image_vjp(
func.func @image(%F: f64 {nb.name = "default_F"}, %n: index, %one: index) -> tensor<?x?x?xf32> {
  %image = nb.image panel %p in %one, slow %s in %n, fast %f in %n : tensor<?x?x?xf32> {
    %x = arith.truncf %F : f64 to f32
    nb.yield %x : f32
  }
  return %image : tensor<?x?x?xf32>
}
