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
  // expected-note @below {{used here}}
  return %t : !nb.table<?xf64>
}

// -----

func.func @two_dimensional_argument(%n: index, %t: !nb.table<?x?xf64>) -> f64 {
  // expected-error @below {{an argument table must have one dimension, but this one has 2}}
  %x = nb.lookup %t[%n, %n] : !nb.table<?x?xf64>
  return %x : f64
}

// -----

func.func @argument_as_term(%n: index, %t: !nb.table<?xf64>) -> f64 {
  // expected-error @below {{a sum of tables or grids must add up what nb.scatter or nb.scatter_factor makes}}
  %s = nb.sum source %i in %n : !nb.table<?xf64> {
    nb.yield %t : !nb.table<?xf64>
  }
  %v = nb.lookup %s[%n] : !nb.table<?xf64>
  return %v : f64
}

// -----

func.func @size_by_pixel(%n: index, %x: f64) -> !nb.table<?xf64> {
  %t = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.table<?xf64> {
    // expected-error @below {{the size of the table is not known ahead of the loops}}
    %e = nb.scatter %x at [%s] in (%f) : !nb.table<?xf64>
    nb.yield %e : !nb.table<?xf64>
  }
  return %t : !nb.table<?xf64>
}

// -----

func.func @other_pixel(%n: index, %c: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %i = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    // expected-error @below {{only the pixel that is being computed can be read}}
    %v = nb.read_pixel %c[%p, %f, %s] : tensor<?x?x?xf64>
    nb.yield %v : f64
  }
  return %i : tensor<?x?x?xf64>
}

// -----

func.func @stage_of_an_argument(%image: tensor<?x?x?xf64>, %gain: f64) -> tensor<?x?x?xf64> {
  // expected-error @below {{a stage outside of an image cannot be converted}}
  %adu = nb.gain %image, %gain : tensor<?x?x?xf64>
  return %adu : tensor<?x?x?xf64>
}

// -----

func.func @point_spread(%image: tensor<?x?x?xf64>, %w: f64, %r: index) -> tensor<?x?x?xf64> {
  // expected-error @below {{point spread cannot be converted, since a kernel computes each pixel by itself}}
  %s = nb.point_spread gauss %image, fwhm %w, pixel_size %w, radius %r : tensor<?x?x?xf64>
  return %s : tensor<?x?x?xf64>
}
