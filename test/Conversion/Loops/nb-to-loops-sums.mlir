// RUN: nb-opt %s --convert-nb-to-loops --split-input-file | FileCheck %s

// A scatter that sums pass on is a load, an addition and a store in the innermost loop, into partial
// sums that a tile starts with zeros and folds at its end. Lanes past the row's end add nothing.

// CHECK-LABEL: func.func @table
// CHECK-DAG: %[[TOTAL:.*]] = memref.alloc({{.*}}) {nb.accumulator} : memref<?xf64>
// CHECK-DAG: %[[PARTIAL:.*]] = memref.alloc({{.*}}) {nb.scratch} : memref<?xf64>
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: arith.muli
// CHECK: vector.store %{{.*}}, %[[PARTIAL]]
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: scf.for
// CHECK-NEXT: arith.constant
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: %[[OLD:.*]] = vector.load %[[PARTIAL]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %{{.*}} fastmath<contract>
// CHECK: %[[NEW:.*]] = arith.select %[[MASK]], %[[SUM]], %[[OLD]]
// CHECK: vector.store %[[NEW]], %[[PARTIAL]]
// CHECK: {nb.loop = #nb.dim<slow>}
// CHECK: vector.load %[[PARTIAL]]
// CHECK: vector.reduction <add>
// CHECK: memref.store %{{.*}}, %[[TOTAL]]
// CHECK: {nb.loop = #nb.dim<panel>}
// CHECK: memref.load %[[TOTAL]]
// CHECK-NOT: nb.scatter
func.func @table(%n: index, %m: index, %x: vector<8xf64>) -> !nb.table<?xf64> {
  %t = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) : !nb.table<?xf64> {
    %a = nb.sum source %i in %m : !nb.table<?xf64> {
      %b = nb.sum mosaic %j in %m : !nb.table<?xf64> {
        %e = nb.scatter %x at [%j] in (%m) : vector<8xf64> to !nb.table<?xf64>
        nb.yield %e : !nb.table<?xf64>
      }
      nb.yield %b : !nb.table<?xf64>
    }
    nb.yield %a : !nb.table<?xf64>
  }
  return %t : !nb.table<?xf64>
}

// -----

// A vector is carried through the sums and added to memory once per pixel; what stands behind the
// image uses the result.

// CHECK-LABEL: func.func @vector
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}) -> (f64, f64, f64)
// CHECK: memref.load
// CHECK: memref.store
// CHECK: {nb.loop = #nb.dim<panel>}
// CHECK: nb.vec
// CHECK: nb.dot
// CHECK: %[[RESULT:.*]] = memref.alloc
// CHECK: memref.store %{{.*}}, %[[RESULT]]
// CHECK: %[[F64:.*]] = nb.stored %[[RESULT]] : memref<?xf64> as f64
// CHECK: return %[[F64]]
func.func @vector(%n: index, %x: !nb.vec3<f64>) -> f64 {
  %g = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.vec3<f64> {
    %a = nb.sum mosaic %j in %n : !nb.vec3<f64> {
      nb.yield %x : !nb.vec3<f64>
    }
    nb.yield %a : !nb.vec3<f64>
  }
  %d = nb.dot %g, %x : !nb.vec3<f64>
  return %d : f64
}

// -----

// Lanes may hit the same reflection, so a grid has none.

// CHECK-LABEL: func.func @grid
// CHECK: %[[TOTAL:.*]] = memref.alloc({{.*}}) {nb.accumulator} : memref<?xf64>
// CHECK-NOT: nb.scratch
// CHECK-COUNT-2: memref.store %{{.*}}, %[[TOTAL]]
// CHECK-NOT: memref.store
// CHECK: {nb.loop = #nb.dim<slow>}
func.func @grid(%n: index, %F: !nb.hkl_grid<f64>, %h: !nb.vec3<vector<2xf64>>, %v: vector<2xf64>)
    -> !nb.hkl_grid<f64> {
  %g = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(2) : !nb.hkl_grid<f64> {
    %e = nb.scatter_factor nearest %v at [%h] like %F
        : !nb.hkl_grid<f64>, !nb.vec3<vector<2xf64>>
    nb.yield %e : !nb.hkl_grid<f64>
  }
  return %g : !nb.hkl_grid<f64>
}

// -----

// A pixel is read where the image is; lanes past the end read 0.

// CHECK-LABEL: func.func @read
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[AT:.*]] = arith.addi
// CHECK: vector.maskedload %{{.*}}[%[[AT]]], %[[MASK]], %{{.*}} : memref<?xf64>
// CHECK: vector.maskedstore %{{.*}}[%[[AT]]], %[[MASK]]
func.func @read(%n: index, %c: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %i = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(4) : tensor<?x?x?xf64> {
    %v = nb.read_pixel %c[%p, %s, %f] : tensor<?x?x?xf64> to vector<4xf64>
    nb.yield %v : vector<4xf64>
  }
  return %i : tensor<?x?x?xf64>
}

// -----

// A sum of tables outside of images clears its memory itself; it may be looked up.

// CHECK-LABEL: func.func @outside
// CHECK: %[[TOTAL:.*]] = memref.alloc
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[TOTAL]]
// CHECK: scf.for
// CHECK: memref.load %[[TOTAL]]
// CHECK: memref.store %{{.*}}, %[[TOTAL]]
// CHECK: %[[V:.*]] = memref.load %[[TOTAL]]
// CHECK: return %[[V]]
func.func @outside(%n: index, %x: f64) -> f64 {
  %t = nb.sum source %i in %n : !nb.table<?xf64> {
    %e = nb.scatter %x at [%i] in (%n) : !nb.table<?xf64>
    nb.yield %e : !nb.table<?xf64>
  }
  %v = nb.lookup %t[%n] : !nb.table<?xf64>
  return %v : f64
}

// -----

// Sixteen lanes are added to the eight of one register, half by half.

// CHECK-LABEL: func.func @halves
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16xi1>
// CHECK: %[[OLD:.*]] = vector.load %{{.*}} : memref<?xf64>, vector<8xf64>
// CHECK: %[[LOW:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[LOW]]
// CHECK: %[[HALF:.*]] = arith.select %{{.*}}, %[[SUM]], %[[OLD]]
// CHECK: %[[HIGH:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [8]
// CHECK: %[[BOTH:.*]] = arith.addf %[[HALF]], %[[HIGH]]
// CHECK: %[[COUNTS:.*]] = vector.extract_strided_slice %[[MASK]] {offsets = [8]
// CHECK: %[[NEW:.*]] = arith.select %[[COUNTS]], %[[BOTH]], %[[HALF]]
// CHECK: vector.store %[[NEW]], %{{.*}} : memref<?xf64>, vector<8xf64>
func.func @halves(%n: index, %x: vector<16xf64>) -> f64 {
  %t = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(16) : f64 {
    nb.yield %x : vector<16xf64>
  }
  return %t : f64
}

// -----

// Sums in single precision are added up in double precision, and rounded once.

// CHECK-LABEL: func.func @single
// CHECK: %[[TOTAL:.*]] = memref.alloc
// CHECK: %[[PARTIAL:.*]] = memref.alloc
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: arith.addf %{{.*}}, %[[WIDE]] fastmath<contract> : vector<4xf64>
// CHECK: } {nb.loop = #nb.dim<panel>}
// CHECK: %[[SUM:.*]] = memref.load %[[TOTAL]]
// CHECK: arith.truncf %[[SUM]] : f64 to f32
// CHECK-COUNT-3: arith.truncf
func.func @single(%n: index, %x: vector<4xf32>, %v: !nb.vec3<vector<4xf32>>) -> (f32, !nb.vec3<f32>) {
  %t:2 = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(4) : f32, !nb.vec3<f32> {
    nb.yield %x, %v : vector<4xf32>, !nb.vec3<vector<4xf32>>
  }
  return %t#0, %t#1 : f32, !nb.vec3<f32>
}
