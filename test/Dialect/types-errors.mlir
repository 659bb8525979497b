// RUN: nb-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{!nb.vec3 element must be f64, f32 or a one-dimensional vector of either, but got 'i32'}}
func.func private @vec3_of_integers(!nb.vec3<i32>)

// -----

// expected-error@below {{!nb.mat3 element must be f64, f32 or a one-dimensional vector of either, but got 'vector<2x2xf64>'}}
func.func private @mat3_of_matrices(!nb.mat3<vector<2x2xf64>>)

// -----

// expected-error@below {{!nb.hkl_grid element must be f64 or f32, but got 'bf16'}}
func.func private @grid_of_bf16(!nb.hkl_grid<bf16>)

// -----

// expected-error@below {{!nb.table element must be f64, f32, index, i1, !nb.vec3 or !nb.mat3 without lanes, but got 'vector<8xf64>'}}
func.func private @table_of_lanes(!nb.table<?xvector<8xf64>>)

// -----

// expected-error@below {{!nb.table sizes are known only when the program runs: write '?'}}
func.func private @table_of_known_size(!nb.table<4xf64>)

// -----

// expected-error@below {{!nb.table must have at least one dimension}}
func.func private @table_of_rank_0(!nb.table<f64>)
