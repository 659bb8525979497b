// RUN: nb-opt %s --nb-split-sums --nb-hoist-invariants | FileCheck %s
// RUN: nb-opt %s --nb-hoist-invariants | FileCheck %s --check-prefix=OFF

// The scattering vector does not depend on the orientation: the sum is split so that it is
// computed once per source. The weight is cheap and moves with it, but would not split by itself.

// CHECK-LABEL: func.func @split
// CHECK: %[[OUTER:.*]] = nb.sum layer %{{.*}} in %{{.*}}, source %[[I:.*]] in %{{.*}} : f64 {
// CHECK: %[[Q:.*]] = nb.scattering_vector
// CHECK: %[[INNER:.*]] = nb.sum phi %[[P:.*]] in %{{.*}}, mosaic %[[M:.*]] in %{{.*}} : f64 {
// CHECK: %[[D:.*]] = nb.lookup inbounds %{{.*}}[%[[P]], %[[M]]]
// CHECK-NEXT: nb.miller_index %[[D]], %[[Q]]
// CHECK: nb.yield %[[INNER]]
// CHECK: nb.yield %[[OUTER]]
// OFF-LABEL: func.func @split
// OFF: nb.sum layer %{{.*}} in %{{.*}}, source %{{.*}} in %{{.*}}, phi %{{.*}} in %{{.*}}, mosaic
// OFF-NOT: nb.sum
func.func @split(%n: index, %nl: index, %ns: index, %np: index, %nm: index, %step: f64,
                 %pixels: !nb.table<?x!nb.vec3<f64>>, %beams: !nb.table<?x!nb.vec3<f64>>,
                 %cells: !nb.table<?x?x!nb.mat3<f64>>, %lambda: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %d = nb.lookup inbounds %pixels[%f] : !nb.table<?x!nb.vec3<f64>>
    %I = nb.sum layer %l in %nl, source %i in %ns, phi %j in %np, mosaic %k in %nm : f64 {
      %layer = arith.index_cast %l : index to i64
      %layer_f = arith.sitofp %layer : i64 to f64
      %depth = arith.mulf %layer_f, %step : f64
      %below = nb.scale %d, %depth : !nb.vec3<f64>
      %beam = nb.lookup inbounds %beams[%i] : !nb.table<?x!nb.vec3<f64>>
      %q = nb.scattering_vector %below, %beam, %lambda : !nb.vec3<f64>
      %D = nb.lookup inbounds %cells[%j, %k] : !nb.table<?x?x!nb.mat3<f64>>
      %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
      %x = nb.norm %hkl : !nb.vec3<f64>
      nb.yield %x : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// A search is not split, nor is a sum whose ops all need its last dimension.

// CHECK-LABEL: func.func @not_split
// OFF-LABEL: func.func @not_split
// CHECK: nb.first source %{{.*}} in %{{.*}}, mosaic
// CHECK: nb.sum source %{{.*}} in %{{.*}}, mosaic
func.func @not_split(%ns: index, %nm: index, %t: !nb.table<?x?xf64>, %u: !nb.table<?xf64>)
    -> (f64, f64) {
  %x = nb.first source %i in %ns, mosaic %j in %nm : f64 {
    %a = nb.lookup inbounds %u[%i] : !nb.table<?xf64>
    %root = math.sqrt %a : f64
    %b = nb.lookup inbounds %t[%i, %j] : !nb.table<?x?xf64>
    %keep = arith.cmpf ogt, %root, %b : f64
    nb.yield %keep, %b : i1, f64
  }
  %I = nb.sum source %i in %ns, mosaic %j in %nm : f64 {
    %b = nb.lookup inbounds %t[%i, %j] : !nb.table<?x?xf64>
    %root = math.sqrt %b : f64
    nb.yield %root : f64
  }
  return %x, %I : f64, f64
}

// An op that is not pure stays in all loops, and what uses it with it.

// CHECK-LABEL: func.func @not_pure
// OFF-LABEL: func.func @not_pure
// CHECK: nb.sum source %{{.*}} in %{{.*}}, mosaic
func.func @not_pure(%ns: index, %nm: index, %t: !nb.table<?xf64>, %m: memref<?xf64>) -> f64 {
  %I = nb.sum source %i in %ns, mosaic %j in %nm : f64 {
    %x = memref.load %m[%i] : memref<?xf64>
    %a = math.exp %x : f64
    %b = math.sin %a : f64
    %c = math.sqrt %b : f64
    %y = nb.lookup %t[%j] : !nb.table<?xf64>
    %z = arith.mulf %c, %y : f64
    nb.yield %z : f64
  }
  return %I : f64
}
