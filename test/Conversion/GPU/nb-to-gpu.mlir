// RUN: nb-opt %s --convert-nb-to-loops --convert-nb-to-arith --nb-outline-kernel --nb-to-gpu --verify-roundtrip --split-input-file | FileCheck %s

// A thread is a pixel of a chunk of 128 in a row; blocks take chunks in turn. The sum over domains
// stays a loop inside; nothing but the pointers is captured.

// CHECK-LABEL: func.func @image_run_tile
// CHECK-SAME: (%[[ARGUMENTS:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[WORKSPACE:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[TILE:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[OUTPUTS:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[SUMS:[^:]*]]: !llvm.ptr {llvm.noalias},
// CHECK: %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK: gpu.launch blocks(%[[B:[^,]*]], %{{[^)]*}}) in (%[[COUNT:.*]] = %[[BLOCKS]],
// CHECK-SAME: threads(%[[T:[^,]*]], {{.*}} = %[[THREADS]],
// CHECK-SAME: module(@image_gpu) function(@image)
// CHECK: llvm.getelementptr %[[ARGUMENTS]][0]
// CHECK: llvm.getelementptr %[[WORKSPACE]][0]
// CHECK: llvm.getelementptr %[[TILE]][0]
// CHECK: llvm.getelementptr %[[OUTPUTS]][0]
// CHECK: llvm.getelementptr %[[SUMS]][0]
// CHECK: %[[ROWS:.*]] = arith.subi %{{.*}}, %[[BEGIN:.*]] : index
// CHECK: %[[OF_ROW:.*]] = arith.divui
// CHECK: %[[CHUNKS:.*]] = arith.muli %[[ROWS]], %[[OF_ROW]] : index
// CHECK: scf.for %[[C:.*]] = %[[B]] to %[[CHUNKS]] step %[[COUNT]]
// CHECK: %[[SHORT:.*]] = arith.index_cast %[[C]] : index to i32
// CHECK: %[[SHORT_ROW:.*]] = arith.index_cast %[[OF_ROW]] : index to i32
// CHECK: %[[DIVIDED:.*]] = arith.divui %[[SHORT]], %[[SHORT_ROW]] : i32
// CHECK: %[[DOWN:.*]] = arith.index_castui %[[DIVIDED]]
// CHECK: %[[REST:.*]] = arith.remui %[[SHORT]], %[[SHORT_ROW]] : i32
// CHECK: %[[ALONG:.*]] = arith.index_castui %[[REST]]
// CHECK: %[[SLOW:.*]] = arith.addi %[[BEGIN]], %[[DOWN]] : index
// CHECK: %[[START:.*]] = arith.muli %[[ALONG]],
// CHECK: %[[FAST:.*]] = arith.addi %[[START]], %[[T]] : index
// CHECK-NOT: scf.for
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[FAST]],
// CHECK: scf.if %[[INSIDE]] {
// CHECK: %[[POSITION:.*]] = arith.addi %{{.*}}, %[[FAST]] : index
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[POSITION]]] : memref<?xf32>
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
// CHECK-NOT: nb.loop
func.func @image(%n: index, %size: f64, %domains: index) -> tensor<?x?x?xf32> {
  %t = nb.tabulate mosaic %j in %domains : !nb.table<?xf64> {
    nb.yield %size : f64
  }
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf32> {
    %I = nb.sum mosaic %j in %domains : f64 {
      %x = nb.lookup %t[%j] : !nb.table<?xf64>
      nb.yield %x : f64
    }
    %v = arith.truncf %I : f64 to f32
    nb.yield %v : f32
  }
  return %img : tensor<?x?x?xf32>
}

// -----

// A thread clears its own pixel and no other before it renders it inside the region of interest;
// a masked pixel is 0. A name that is taken is left alone.

// CHECK-LABEL: func.func @picture_run_tile
// CHECK: gpu.launch
// CHECK-SAME: threads(%[[T:[^,]*]],
// CHECK-SAME: module(@picture_gpu_0) function(@picture)
// CHECK: %[[FAST:.*]] = arith.addi %{{.*}}, %[[T]] : index
// CHECK: %[[IN_ROW:.*]] = arith.cmpi slt, %[[FAST]], %[[COLUMNS:.*]] : index
// CHECK: scf.if %[[IN_ROW]] {
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[FAST]] : index
// CHECK: memref.store %{{.*}}, %[[IMAGE:.*]][%[[AT]]]
// CHECK-NEXT: }
// CHECK: %[[BEGIN:.*]] = arith.maxsi
// CHECK: %[[END:.*]] = arith.select
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %[[FAST]], %[[END]] : index
// CHECK: %[[AFTER:.*]] = arith.cmpi sge, %[[FAST]], %[[BEGIN]] : index
// CHECK: %[[INSIDE:.*]] = arith.andi %[[BEFORE]], %[[AFTER]] : i1
// CHECK: scf.if %[[INSIDE]] {
// CHECK: %[[BYTE:.*]] = memref.load %{{.*}} : memref<?xi8>
// CHECK: %[[WANTED:.*]] = arith.cmpi ne, %[[BYTE]],
// CHECK: %[[VALUE:.*]] = arith.select %[[WANTED]]
// CHECK: memref.store %[[VALUE]], %[[IMAGE]]
func.func @picture(%n: index, %a: index, %b: index, %mask: tensor<?x?x?xi8>,
                   %f: f64) -> tensor<?x?x?xf32> {
  %y = arith.truncf %f : f64 to f32
  %img = nb.image panel %p in %n, slow %s in %n, fast %q in %n
      roi(%a, %b, %a, %b) mask(%mask : tensor<?x?x?xi8>) : tensor<?x?x?xf32> {
    nb.yield %y : f32
  }
  return %img : tensor<?x?x?xf32>
}
func.func private @picture_gpu()
