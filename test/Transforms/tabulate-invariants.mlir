// RUN: nb-opt %s --nb-hoist-invariants --nb-tabulate-invariants --split-input-file | FileCheck %s
// RUN: nb-opt %s --nb-hoist-invariants --split-input-file \
// RUN:   | FileCheck %s --check-prefix=OFF

// The product of two rotations is one table over both dimensions: what the pixel needs, not the
// steps on the way there.

// CHECK-LABEL: func.func @orientations
// CHECK: %[[U:.*]] = nb.tabulate phi %[[P:.*]] in %[[NP:.*]], mosaic %[[M:.*]] in %[[NM:.*]] : !nb.table<?x?x!nb.mat3<f64>> {
// CHECK: nb.lookup inbounds %{{.*}}[%[[P]]]
// CHECK: nb.axis_rotation
// CHECK: nb.lookup inbounds %{{.*}}[%[[M]]]
// CHECK: nb.axis_rotation
// CHECK: %[[R:.*]] = nb.multiply
// CHECK-NEXT: nb.yield %[[R]]
// CHECK: nb.image
// CHECK: nb.sum phi %[[P2:.*]] in %[[NP]], mosaic %[[M2:.*]] in %[[NM]]
// CHECK-NEXT: %[[ROTATION:.*]] = nb.lookup %[[U]][%[[P2]], %[[M2]]]
// CHECK-NEXT: nb.transform %[[ROTATION]]
// CHECK-NOT: nb.axis_rotation
// OFF-LABEL: func.func @orientations
// OFF-NOT: nb.tabulate
func.func @orientations(%n: index, %np: index, %nm: index, %axis: !nb.vec3<f64>,
                        %phis: !nb.table<?xf64>, %angles: !nb.table<?xf64>,
                        %pixels: !nb.table<?x!nb.vec3<f64>>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %d = nb.lookup inbounds %pixels[%f] : !nb.table<?x!nb.vec3<f64>>
    %I = nb.sum phi %i in %np, mosaic %j in %nm : f64 {
      %phi = nb.lookup inbounds %phis[%i] : !nb.table<?xf64>
      %spindle = nb.axis_rotation %axis, %phi : !nb.vec3<f64>
      %angle = nb.lookup inbounds %angles[%j] : !nb.table<?xf64>
      %domain = nb.axis_rotation %axis, %angle : !nb.vec3<f64>
      %rotation = nb.multiply %domain, %spindle : !nb.mat3<f64>
      %t = nb.transform %rotation, %d : !nb.vec3<f64>
      %x = nb.norm %t : !nb.vec3<f64>
      nb.yield %x : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

// Not worth a table: a lookup, an index as a number, one product. A search is served as a sum is,
// and so are panels.

// CHECK-LABEL: func.func @cheap_and_dear
// CHECK: nb.tabulate source %{{.*}} in %{{.*}} : !nb.table<?xf64> {
// CHECK: math.sqrt
// CHECK: nb.tabulate panel %{{.*}} in %{{.*}} : !nb.table<?xf64> {
// CHECK: math.exp
// CHECK-NOT: nb.tabulate
// CHECK: nb.image
// CHECK: nb.first
// CHECK: arith.sitofp
// CHECK-NOT: math.sqrt
// CHECK: return
func.func @cheap_and_dear(%n: index, %ns: index, %table: !nb.table<?xf64>, %step: f64)
    -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %pixel = nb.lookup inbounds %table[%f] : !nb.table<?xf64>
    %panel = nb.lookup inbounds %table[%p] : !nb.table<?xf64>
    %gain = math.exp %panel : f64
    %x = nb.first source %i in %ns : f64 {
      %w = nb.lookup inbounds %table[%i] : !nb.table<?xf64>
      %root = math.sqrt %w : f64
      %number = arith.index_cast %i : index to i64
      %number_f = arith.sitofp %number : i64 to f64
      %depth = arith.mulf %number_f, %step : f64
      %keep = arith.cmpf ogt, %depth, %pixel : f64
      %y = arith.addf %root, %pixel : f64
      nb.yield %keep, %y : i1, f64
    }
    %z = arith.mulf %x, %gain : f64
    nb.yield %z : f64
  }
  return %img : tensor<?x?x?xf64>
}

// A table has one length: what a loop computes that is longer in some pixels than in others has none.

// CHECK-LABEL: func.func @varying_length
// CHECK-NOT: nb.tabulate
// CHECK: nb.image
// CHECK: nb.sum source
// CHECK: math.sqrt
func.func @varying_length(%n: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %count = arith.addi %n, %f : index
    %I = nb.sum source %i in %count : f64 {
      %w = nb.lookup inbounds %t[%i] : !nb.table<?xf64>
      %root = math.sqrt %w : f64
      nb.yield %root : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// Nor is there a table of conditions: what is compared has one.

// CHECK-LABEL: func.func @conditions
// CHECK: nb.tabulate source {{.*}} : !nb.table<?xf64> {
// CHECK-NOT: xi1>
// CHECK: nb.image
// CHECK: arith.cmpf
func.func @conditions(%n: index, %t: !nb.table<?xf64>, %w: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    %I = nb.sum source %k in %n : f64 {
      %x = nb.lookup inbounds %t[%k] : !nb.table<?xf64>
      %a = math.exp %x : f64
      %b = math.sin %a : f64
      %c = arith.cmpf ogt, %b, %w : f64
      %y = arith.select %c, %column, %w : f64
      nb.yield %y : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}
