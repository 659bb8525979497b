// RUN: nb-opt %s --convert-nb-to-loops --split-input-file --verify-diagnostics | FileCheck %s

// A lit block is two rows of four pixels. What lies beyond the image or the tile is masked off, and each row
// is read and written by itself.

// CHECK-LABEL: func.func @lanes
// CHECK-DAG: arith.constant dense<[0, 0, 0, 0, 1, 1, 1, 1]> : vector<8xindex>
// CHECK-DAG: arith.constant dense<[0, 1, 2, 3, 0, 1, 2, 3]> : vector<8xindex>
// CHECK: %[[ALONG:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<8xindex>
// CHECK: %[[DOWN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<8xindex>
// CHECK: %[[INSIDE:.*]] = arith.andi %[[ALONG]], %[[DOWN]] : vector<8xi1>
// CHECK: %[[FIRST:.*]] = vector.extract_strided_slice %[[INSIDE]] {offsets = [0], sizes = [4], strides = [1]}
// CHECK: vector.maskedload %{{.*}}, %[[FIRST]]
// CHECK: %[[SECOND:.*]] = vector.extract_strided_slice %[[INSIDE]] {offsets = [4], sizes = [4], strides = [1]}
// CHECK: vector.maskedload %{{.*}}, %[[SECOND]]
// CHECK-COUNT-2: vector.maskedstore {{.*}} vector<4xi1>, vector<4xf64>
func.func @lanes(%image: tensor<?x?x?xf64>, %n: index) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) rows(2) attributes {nb.lit}
      : tensor<?x?x?xf64> {
    %v = nb.read_pixel %image[%p, %s, %f] : tensor<?x?x?xf64> to vector<8xf64> in rows
    nb.yield %v : vector<8xf64>
  }
  return %img : tensor<?x?x?xf64>
}

// -----

func.func @dark(%n: index, %x: vector<8xf64>) -> tensor<?x?x?xf64> {
  // expected-error@below {{lanes of several rows are for blocks of what is lit, which nb-cull marks}}
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) rows(2) : tensor<?x?x?xf64> {
    nb.yield %x : vector<8xf64>
  }
  return %img : tensor<?x?x?xf64>
}
