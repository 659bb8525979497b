// RUN: nb-opt %s --convert-nb-to-loops=warp=32 | FileCheck %s

// The pixels of a warp are four rows of eight. One that lies beyond the image or the tile computes the nearest
// pixel, since its warp runs as one, and writes nothing.

// CHECK-LABEL: func.func @warp
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[COUNT:.*]] = arith.constant 32 : index
// CHECK: scf.for %[[PIXEL:.*]] = %{{.*}} to %[[COUNT]]
// CHECK: %[[ROW:.*]] = arith.divui %[[PIXEL]]
// CHECK: %[[SLOW:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: %[[COLUMN:.*]] = arith.remui %[[PIXEL]]
// CHECK: %[[FAST:.*]] = arith.addi %{{.*}}, %[[COLUMN]]
// CHECK-DAG: %[[ALONG:.*]] = arith.cmpi slt, %[[FAST]]
// CHECK-DAG: %[[DOWN:.*]] = arith.cmpi slt, %[[SLOW]]
// CHECK: %[[INSIDE:.*]] = arith.andi %[[ALONG]], %[[DOWN]] : i1
// CHECK-DAG: arith.minsi %[[SLOW]]
// CHECK-DAG: arith.minsi %[[FAST]]
// CHECK: %[[VALUE:.*]] = memref.load
// CHECK: scf.if %[[INSIDE]] {
// CHECK-NEXT: memref.store %[[VALUE]]
// CHECK: {nb.loop = #nb.dim<fast>}
func.func @warp(%image: tensor<?x?x?xf64>, %n: index) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n attributes {nb.lit} : tensor<?x?x?xf64> {
    %v = nb.read_pixel %image[%p, %s, %f] : tensor<?x?x?xf64>
    nb.yield %v : f64
  }
  return %img : tensor<?x?x?xf64>
}
