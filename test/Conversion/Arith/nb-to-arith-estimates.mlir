// RUN: nb-opt %s --convert-nb-to-arith=estimates=true --cse --split-input-file | FileCheck %s
// RUN: nb-opt %s --convert-nb-to-arith --cse --split-input-file | FileCheck %s --check-prefix=NONE

// NONE-NOT: llvm.x86

// An estimate for each register, refined together.

// CHECK-LABEL: func.func @normalize
// CHECK: %[[SAFE:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xf64>
// CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[SAFE]] {offsets = [0]{{.*}} : vector<16xf64> to vector<8xf64>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.rsqrt14.pd.512"(%[[LOW]], {{.*}})
// CHECK: %[[HIGH:.*]] = vector.extract_strided_slice %[[SAFE]] {offsets = [8]{{.*}} : vector<16xf64> to vector<8xf64>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.rsqrt14.pd.512"(%[[HIGH]], {{.*}})
// CHECK-NOT: arith.shrui
// CHECK: return
func.func @normalize(%v: !nb.vec3<vector<16xf64>>) -> vector<16xf64> {
  %n = nb.normalize %v : !nb.vec3<vector<16xf64>>
  %x = nb.component %n[0] : !nb.vec3<vector<16xf64>>
  return %x : vector<16xf64>
}

// -----

// No division where lanes fill registers; a scalar has none of its own.

// CHECK-LABEL: func.func @square
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.rcp14.pd.512"
// CHECK-NOT: arith.divf
// CHECK-LABEL: func.func @scalar
// CHECK: arith.divf
// CHECK-LABEL: func.func @half_a_register
// CHECK: arith.divf
func.func @square(%d: !nb.vec3<vector<8xf64>>, %n: !nb.vec3<vector<8xf64>>) -> vector<8xf64> {
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<vector<8xf64>>
  return %L : vector<8xf64>
}
func.func @scalar(%d: !nb.vec3<f64>, %n: !nb.vec3<f64>) -> f64 {
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<f64>
  return %L : f64
}
func.func @half_a_register(%d: !nb.vec3<vector<4xf64>>, %n: !nb.vec3<vector<4xf64>>)
    -> vector<4xf64> {
  %L = nb.lattice_factor square fraction %d, %n : !nb.vec3<vector<4xf64>>
  return %L : vector<4xf64>
}

// -----

// CHECK-LABEL: func.func @single
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.rcp14.ps.512"
// CHECK-NOT: arith.divf
// CHECK: return
func.func @single(%hkl: !nb.vec3<vector<16xf64>>, %n: !nb.vec3<vector<16xf64>>) -> vector<16xf32> {
  %L = nb.lattice_factor square %hkl, %n : !nb.vec3<vector<16xf64>> -> vector<16xf32>
  return %L : vector<16xf32>
}
