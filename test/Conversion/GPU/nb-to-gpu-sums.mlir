// RUN: nb-opt %s --convert-nb-to-loops=warp=32 --convert-nb-to-arith --cse --nb-outline-kernel --nb-to-gpu --verify-roundtrip --split-input-file | FileCheck %s

// A warp adds to the accumulator of its number, which is as far from the next as the kernel says.
// All threads of a warp compute if one has a pixel: the others the nearest pixel, and add 0.

// CHECK-LABEL: func.func @image_run_tile
// CHECK: gpu.launch blocks(%[[B:[^,]*]],
// CHECK-SAME: threads(%[[T:[^,]*]],
// CHECK-SAME: function(@image)
// CHECK: %[[SUMS:.*]] = llvm.getelementptr %arg4[0]
// CHECK: %[[WARP_SIZE:.*]] = arith.constant 32 : index
// CHECK: %[[IN_BLOCK:.*]] = arith.divui %[[T]], %[[WARP_SIZE]] : index
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[BEFORE:.*]] = arith.muli %[[B]], %[[FOUR]] : index
// CHECK: %[[WARP:.*]] = arith.addi %[[BEFORE]], %[[IN_BLOCK]] : index
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[WARP]] : index to i64
// CHECK: %[[OFFSET:.*]] = arith.muli %[[NUMBER]], %[[BYTES:.*]] : i64
// CHECK: llvm.getelementptr %[[SUMS]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: scf.for
// CHECK: %[[LANE:.*]] = arith.remui %[[T]],
// CHECK: %[[FIRST:.*]] = arith.subi %[[FAST:.*]], %[[LANE]] : index
// CHECK: %[[ANY:.*]] = arith.cmpi slt,
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[PIXEL:.*]] = arith.maxsi
// CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[PIXEL]], %[[FAST]] : index
// CHECK: scf.if %[[OWN]] {
// CHECK-NEXT: memref.store
// CHECK: %[[TERM:.*]] = arith.select %[[OWN]], %[[X:.*]], %{{.*}} : f64
// CHECK: memref.atomic_rmw addf %[[TERM]], %[[ACCUMULATOR:.*]][%{{.*}}] : (f64, memref<?xf64>) -> f64
// CHECK: gpu.terminator

// Then a warp for each number adds up all accumulators in the first.

// CHECK: %[[DOUBLES:.*]] = arith.divui
// CHECK: %[[WARPS:.*]] = arith.index_cast
// CHECK: %[[BLOCKS:.*]] = arith.index_cast %[[DOUBLES]] : i64 to index
// CHECK: gpu.launch blocks(%[[I:[^,]*]], {{.*}} = %[[BLOCKS]],
// CHECK-SAME: threads(%[[LANE2:[^,]*]],
// CHECK-SAME: function(@image_reduce)
// CHECK: llvm.getelementptr %arg4[0]
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[WARPS]] : i64 to index
// CHECK: %[[EACH:.*]] = arith.index_cast %[[DOUBLES]] : i64 to index
// CHECK: %[[SUM:.*]] = scf.for %[[W:.*]] = %[[LANE2]] to %[[COUNT]] step
// CHECK: %[[ROW:.*]] = arith.muli %[[W]], %[[EACH]] : index
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[I]] : index
// CHECK: memref.load %[[MEMORY:.*]][%[[AT]]]
// CHECK: memref.store %{{.*}}, %[[MEMORY]][%[[AT]]]
// CHECK: memref.atomic_rmw addf %[[SUM]], %[[MEMORY]][%[[I]]]
func.func @image(%n: index, %x: f64) -> (tensor<?x?x?xf32>, f64) {
  %img, %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf32>, f64 {
    %v = arith.truncf %x : f64 to f32
    nb.yield %v, %x : f32, f64
  }
  return %img, %sum : tensor<?x?x?xf32>, f64
}

// -----

// Entries of a table are added to in the loop that they are computed in; masked pixels add 0.

// CHECK-LABEL: func.func @table_run_tile
// CHECK: gpu.launch
// CHECK: %[[OWN:.*]] = arith.cmpi eq,
// CHECK: %[[WANTED:.*]] = arith.cmpi ne,
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[TERM:.*]] = arith.select %[[WANTED]],
// CHECK: %[[OWN_TERM:.*]] = arith.select %[[OWN]], %[[TERM]],
// CHECK: memref.atomic_rmw addf %[[OWN_TERM]], %{{.*}}[%[[J]]]
func.func @table(%n: index, %m: index, %x: f64, %mask: tensor<?x?x?xi8>) -> !nb.table<?xf64> {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n mask(%mask : tensor<?x?x?xi8>)
      : !nb.table<?xf64> {
    %t = nb.sum mosaic %j in %m : !nb.table<?xf64> {
      %one = nb.scatter %x at [%j] in (%m) : !nb.table<?xf64>
      nb.yield %one : !nb.table<?xf64>
    }
    nb.yield %t : !nb.table<?xf64>
  }
  return %sum : !nb.table<?xf64>
}

// -----

// Values of a grid are another place for each pixel: each thread adds there by itself, in its warp's
// accumulator.

// CHECK-LABEL: func.func @scattered_run_tile
// CHECK: gpu.launch
// CHECK: %[[OWN:.*]] = arith.cmpi eq,
// CHECK: %[[TERM:.*]] = arith.select %[[OWN]],
// CHECK: memref.atomic_rmw addf %[[TERM]], %{{.*}}[%{{.*}}] {nb.scattered} : (f64, memref<?xf64>) -> f64
// CHECK: gpu.launch
// CHECK-SAME: function(@scattered_reduce)
func.func @scattered(%n: index, %x: f64, %F: !nb.hkl_grid<f64>) -> !nb.hkl_grid<f64> {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.hkl_grid<f64> {
    %hkl = nb.vec %x, %x, %x : f64
    %t = nb.scatter_factor nearest %x at [%hkl] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
    nb.yield %t : !nb.hkl_grid<f64>
  }
  return %sum : !nb.hkl_grid<f64>
}
