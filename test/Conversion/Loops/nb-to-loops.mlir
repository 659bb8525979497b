// RUN: nb-opt %s --convert-nb-to-loops --split-input-file | FileCheck %s

// Sums carry their value through one loop per dimension.

// CHECK-LABEL: func.func @sum
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: %[[OUTER:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} iter_args(%[[A:.*]] = %[[ZERO]]) -> (f64)
// CHECK: %[[INNER:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (f64)
// CHECK: arith.addf %[[B]], %{{.*}} fastmath<contract> : f64
// CHECK: scf.yield
// CHECK: scf.yield %[[INNER]]
// CHECK: return %[[OUTER]]
func.func @sum(%n: index, %m: index, %x: f64) -> f64 {
  %I = nb.sum source %i in %n, mosaic %j in %m : f64 {
    nb.yield %x : f64
  }
  return %I : f64
}

// -----

// The first value whose condition holds is kept by selects, without leaving the loop.

// CHECK-LABEL: func.func @first
// CHECK: scf.for {{.*}} iter_args(%[[FOUND:.*]] = %{{.*}}, %[[VALUE:.*]] = %{{.*}}) -> (i1, f64)
// CHECK: %[[CANDIDATE:.*]] = arith.select %[[C:.*]], %{{.*}}, %{{.*}} : f64
// CHECK: %[[KEPT:.*]] = arith.select %[[FOUND]], %[[VALUE]], %[[CANDIDATE]] : f64
// CHECK: %[[ANY:.*]] = arith.ori %[[FOUND]], %[[C]] : i1
// CHECK: scf.yield %[[ANY]], %[[KEPT]]
func.func @first(%n: index, %t: !nb.table<?xf64>, %limit: f64) -> f64 {
  %v = nb.first source %i in %n : f64 {
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    %c = arith.cmpf ogt, %x, %limit : f64
    nb.yield %c, %x : i1, f64
  }
  return %v : f64
}

// -----

// A table is a flat buffer with the components of an entry side by side, of one entry at least; a
// negative count is that of no entry.

// CHECK-LABEL: func.func @table
// CHECK: %[[N:.*]] = arith.maxsi %n, %{{.*}} : index
// CHECK: %[[M:.*]] = arith.maxsi %m, %{{.*}} : index
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[N]], %[[M]] : index
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[ENTRIES:.*]] = arith.maxsi %[[PRODUCT]], %[[ONE]] : index
// CHECK: %[[SIZE:.*]] = arith.muli %[[ENTRIES]], %{{.*}} : index
// CHECK: %[[BUFFER:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf64>
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
// CHECK: nb.vec %{{.*}}, %{{.*}}, %{{.*}} : f64
func.func @table(%n: index, %m: index, %v: !nb.vec3<f64>, %k: index) -> !nb.vec3<f64> {
  %t = nb.tabulate phi %i in %n, mosaic %j in %m : !nb.table<?x?x!nb.vec3<f64>> {
    nb.yield %v : !nb.vec3<f64>
  }
  %w = nb.lookup %t[%k, %k] : !nb.table<?x?x!nb.vec3<f64>>
  return %w : !nb.vec3<f64>
}

// -----

// Rows are cleared, then the region of interest is computed, lanes past its end masked off.

// CHECK-LABEL: func.func @image
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: scf.for %[[P:.*]] =
// CHECK: scf.for %[[S:.*]] =
// CHECK: scf.for
// CHECK: vector.maskedstore
// CHECK: %[[BEGIN:.*]] = arith.maxsi
// CHECK: %[[END:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BEGIN]] : index
// CHECK: scf.for %[[F:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[F]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK: vector.maskedload {{.*}}, %[[MASK]], {{.*}} : memref<?xi8>
// Lanes that are all masked are not computed.
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK: scf.if %[[ANY]]
// CHECK: vector.maskedstore %{{.*}}[%{{.*}}], %[[MASK]], %{{.*}} : memref<?xf32>
// CHECK: {nb.loop = #nb.dim<slow>}
// CHECK: {nb.loop = #nb.dim<panel>}
func.func @image(%n: index, %x: vector<8xf32>, %mask: tensor<?x?x?xi8>) -> tensor<?x?x?xf32> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n
      roi(%n, %n, %n, %n) mask(%mask : tensor<?x?x?xi8>) lanes(8) : tensor<?x?x?xf32> {
    nb.yield %x : vector<8xf32>
  }
  return %img : tensor<?x?x?xf32>
}

// -----

// It reads one place of the pixel's row, too, such as the panel of a list of pixels.

// CHECK-LABEL: func.func @table_of_rows
// CHECK: scf.for %[[P:.*]] =
// CHECK: scf.for %[[S:.*]] =
// CHECK: scf.for %{{.*}} =
// CHECK: %[[FIRST:.*]] = arith.muli %[[P]], %{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[S]] : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[ROW]], %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %{{.*}} : index
// CHECK: memref.load %{{.*}}[%[[AT]]] : memref<?xf64>
func.func @table_of_rows(%where: tensor<?x?x?xf64>, %n: index, %m: index, %i: index) -> f64 {
  %zero = arith.constant 0 : index
  %t = nb.tabulate panel %p in %n, slow %s in %n, fast %f in %m : !nb.table<?x?x?xf64> {
    %x = nb.read_pixel %where[%p, %s, %zero] : tensor<?x?x?xf64>
    nb.yield %x : f64
  }
  %y = nb.lookup %t[%i, %i, %i] : !nb.table<?x?x?xf64>
  return %y : f64
}

// -----

// A table with an entry for each pixel reads an image at the pixel of its first three dimensions.

// CHECK-LABEL: func.func @table_of_pixels
// CHECK: scf.for %[[P:.*]] =
// CHECK: scf.for %[[S:.*]] =
// CHECK: scf.for %[[F:.*]] =
// CHECK: scf.for %{{.*}} =
// CHECK: %[[FIRST:.*]] = arith.muli %[[P]], %{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[S]] : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[ROW]], %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[F]] : index
// CHECK: memref.load %{{.*}}[%[[AT]]] : memref<?xf64>
func.func @table_of_pixels(%where: tensor<?x?x?xf64>, %n: index, %m: index, %i: index) -> f64 {
  %t = nb.tabulate panel %p in %n, slow %s in %n, fast %f in %m, subslow %k in %n : !nb.table<?x?x?x?xf64> {
    %x = nb.read_pixel %where[%p, %s, %f] : tensor<?x?x?xf64>
    nb.yield %x : f64
  }
  %y = nb.lookup %t[%i, %i, %i, %i] : !nb.table<?x?x?x?xf64>
  return %y : f64
}

// -----

// A pixel may read one of its row, at a constant place.

// CHECK-LABEL: func.func @of_the_row
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: %[[BEGIN:.*]] = arith.muli %[[ROW]]
// CHECK: scf.for
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[TWO]] : index
// CHECK: memref.load %{{.*}}[%[[AT]]] : memref<?xf64>
func.func @of_the_row(%n: index, %c: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %two = arith.constant 2 : index
  %i = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %v = nb.read_pixel %c[%p, %s, %two] : tensor<?x?x?xf64>
    nb.yield %v : f64
  }
  return %i : tensor<?x?x?xf64>
}

// -----

// The entries of a table of three dimensions lie one behind another along the last one.

// CHECK-LABEL: func.func @three_dimensions
// CHECK-SAME: (%{{.*}}: index, %[[M:.*]]: index, %[[L:.*]]: index,
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[ROWS:.*]] = arith.muli %[[I]], %[[M]]
// CHECK: %[[ROW:.*]] = arith.addi %[[ROWS]], %[[J]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ROW]], %[[L]]
// CHECK: %[[AT:.*]] = arith.addi %[[BEFORE]], %[[K]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[AT]]]
func.func @three_dimensions(%n: index, %m: index, %l: index, %x: f64) -> f64 {
  %t = nb.tabulate source %i in %n, phi %j in %m, mosaic %k in %l : !nb.table<?x?x?xf64> {
    nb.yield %x : f64
  }
  %y = nb.lookup %t[%l, %m, %n] : !nb.table<?x?x?xf64>
  return %y : f64
}

// -----

// A guarded index is one like others from here on.

// CHECK-LABEL: func.func @guarded
// CHECK: arith.select %c, %i, %{{.*}} : index
// CHECK: memref.load
func.func @guarded(%c: i1, %i: index, %t: !nb.table<?xf64>) -> f64 {
  %zero = arith.constant 0 : index
  %k = arith.select %c, %i, %zero {nb.guard} : index
  %x = nb.lookup %t[%k] : !nb.table<?xf64>
  return %x : f64
}
