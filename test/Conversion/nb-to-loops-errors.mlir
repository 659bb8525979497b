// RUN: nb-opt %s --convert-nb-to-loops --split-input-file --verify-diagnostics

func.func @index_table(%n: index) -> index {
  // expected-error @below {{tables of 'index' cannot be converted: only f64, !nb.vec3<f64> and !nb.mat3<f64> can}}
  %t = nb.tabulate phi %i in %n : !nb.table<?xindex> {
    nb.yield %i : index
  }
  %w = nb.lookup %t[%n] : !nb.table<?xindex>
  return %w : index
}

// -----

func.func @escaping_table(%n: index, %x: f64) -> !nb.table<?xf64> {
  // expected-error @below {{a table may only be looked up}}
  %t = nb.tabulate phi %i in %n : !nb.table<?xf64> {
    nb.yield %x : f64
  }
  return %t : !nb.table<?xf64>
}

// -----

func.func @two_dimensional_argument(%n: index, %t: !nb.table<?x?xf64>) -> f64 {
  // expected-error @below {{an argument table must have one dimension, but this one has 2}}
  %x = nb.lookup %t[%n, %n] : !nb.table<?x?xf64>
  return %x : f64
}
