// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s

// CHECK-LABEL: func.func private @geometric
// CHECK-SAME: (!nb.vec3<f64>, !nb.vec3<f32>, !nb.vec3<vector<8xf64>>, !nb.mat3<f64>, !nb.mat3<vector<16xf32>>)
func.func private @geometric(!nb.vec3<f64>, !nb.vec3<f32>, !nb.vec3<vector<8xf64>>, !nb.mat3<f64>,
                             !nb.mat3<vector<16xf32>>)

// CHECK-LABEL: func.func private @stored
// CHECK-SAME: (!nb.hkl_grid<f64>, !nb.hkl_grid<f32>, !nb.table<?xf64>, !nb.table<?x?x!nb.mat3<f64>>, !nb.table<?xindex>, !nb.table<?x?x?xi1>)
func.func private @stored(!nb.hkl_grid<f64>, !nb.hkl_grid<f32>, !nb.table<?xf64>,
                          !nb.table<?x?x!nb.mat3<f64>>, !nb.table<?xindex>,
                          !nb.table<?x?x?xi1>)
