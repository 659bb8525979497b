// RUN: nb-opt %s --nb-set-precision=precision=mixed | FileCheck %s --check-prefixes=CHECK,MIXED
// RUN: nb-opt %s --nb-set-precision=precision=f32 | FileCheck %s --check-prefixes=CHECK,SINGLE
// RUN: nb-opt %s --nb-set-precision | FileCheck %s --check-prefixes=CHECK,DOUBLE

// What follows from the amplitudes is f32; the index, its geometry and the sum stay f64. What stands
// outside the image is rounded there, once.

// CHECK-LABEL: func.func @image
// CHECK-SAME: %[[D:.*]]: !nb.mat3<f64>, %[[N:.*]]: !nb.vec3<f64>, %[[F:.*]]: !nb.hkl_grid<f64>,
// CHECK-SAME: %[[F0:F0]]: f64
// MIXED: %[[ROUNDED:.*]] = arith.truncf %[[F0]] : f64 to f32
// CHECK: nb.image
// SINGLE: nb.normalize %{{.*}} : !nb.vec3<f32>
// CHECK: nb.sum mosaic {{.*}} : f64
// MIXED: %[[HKL:.*]] = nb.miller_index %[[D]], %{{.*}} : !nb.vec3<f64>
// MIXED: %[[L:.*]] = nb.lattice_factor square %[[HKL]], %[[N]] : !nb.vec3<f64> -> f32
// MIXED: %[[KNOWN:.*]] = nb.structure_factor nearest %[[F]][%[[HKL]]] default %[[ROUNDED]] : !nb.hkl_grid<f64>, !nb.vec3<f64> -> f32
// MIXED: %[[I:.*]] = nb.intensity %[[KNOWN]], %[[L]] : f32
// MIXED: %[[WEIGHT:.*]] = nb.lookup
// MIXED: %[[W:.*]] = arith.truncf %[[WEIGHT]] : f64 to f32
// MIXED: %[[PRODUCT:.*]] = arith.mulf %[[I]], %[[W]] : f32
// MIXED: %[[TERM:.*]] = arith.extf %[[PRODUCT]] : f32 to f64
// MIXED: nb.yield %[[TERM]] : f64
// SINGLE: nb.miller_index %{{.*}}, %{{.*}} : !nb.vec3<f32>
// SINGLE: nb.lattice_factor square %{{.*}}, %{{.*}} : !nb.vec3<f32>{{$}}
// SINGLE: nb.structure_factor nearest %[[F]][%{{.*}}] default %{{.*}} : !nb.hkl_grid<f64>, !nb.vec3<f32>{{$}}
// SINGLE: arith.extf %{{.*}} : f32 to f64
// DOUBLE-NOT: f32
func.func @image(%D: !nb.mat3<f64>, %N: !nb.vec3<f64>, %F: !nb.hkl_grid<f64>, %F0: f64,
                 %weights: !nb.table<?xf64>, %n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %v = nb.vec %x, %x, %size : f64
    %q = nb.normalize %v : !nb.vec3<f64>
    %I = nb.sum mosaic %i in %n : f64 {
      %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
      %L = nb.lattice_factor square %hkl, %N : !nb.vec3<f64>
      %known = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
      %one = nb.intensity %known, %L : f64
      %w = nb.lookup %weights[%i] : !nb.table<?xf64>
      %term = arith.mulf %one, %w : f64
      nb.yield %term : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// A factor that varies with the pixel in f64 keeps what it meets in f64.

// CHECK-LABEL: func.func @varying
// MIXED: %[[L:.*]] = nb.lattice_factor {{.*}} -> f32
// MIXED: %[[WIDE:.*]] = arith.extf %[[L]] : f32 to f64
// MIXED: arith.mulf %[[WIDE]], %{{.*}} : f64
func.func @varying(%N: !nb.vec3<f64>, %n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %hkl = nb.vec %x, %size, %size : f64
    %L = nb.lattice_factor square %hkl, %N : !nb.vec3<f64>
    %y = arith.mulf %L, %x : f64
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}

// Images, tables and grids in memory stay f64, also those that gradients are read from and added to.

// CHECK-LABEL: func.func @in_memory
// SINGLE: nb.read_pixel {{.*}} : tensor<?x?x?xf64>
// SINGLE: %[[PRODUCT:.*]] = arith.mulf {{.*}} : f32
// SINGLE: %[[TERM:.*]] = arith.extf %[[PRODUCT]] : f32 to f64
// SINGLE: nb.scatter %[[TERM]] at [%{{.*}}] in (%{{.*}}) : !nb.table<?xf64>
func.func @in_memory(%cotangent: tensor<?x?x?xf64>, %size: f64, %n: index) -> !nb.table<?xf64> {
  %sum = nb.image panel %p in %n, slow %s in %n, fast %f in %n : !nb.table<?xf64> {
    %adjoint = nb.read_pixel %cotangent[%p, %s, %f] : tensor<?x?x?xf64>
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %each = nb.sum mosaic %m in %n : !nb.table<?xf64> {
      %y = arith.mulf %adjoint, %x : f64
      %entry = nb.scatter %y at [%m] in (%n) : !nb.table<?xf64>
      nb.yield %entry : !nb.table<?xf64>
    }
    nb.yield %each : !nb.table<?xf64>
  }
  return %sum : !nb.table<?xf64>
}

// Numbers of which none is an amplitude keep their precision, although all of them were given.

// CHECK-LABEL: func.func @given
// MIXED: nb.lookup
// MIXED-NEXT: %[[B:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// MIXED-NEXT: nb.yield %[[B]] : f64
func.func @given(%size: f64, %n: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %w = nb.lookup %t[%f] : !nb.table<?xf64>
    %b = arith.mulf %w, %size : f64
    nb.yield %b : f64
  }
  return %img : tensor<?x?x?xf64>
}

// A derivative has gratings of the fraction of an index in place of the lattice factor: they and what is
// made of them alone are f32, vectors too; geometry takes them in f64.

// CHECK-LABEL: func.func @derivative
// MIXED: %[[DELTA:.*]] = nb.sub %{{.*}} : !nb.vec3<f64>
// MIXED: %[[L:.*]] = nb.grating %[[DELTA]], %{{.*}} : !nb.vec3<f64> -> f32
// MIXED: %[[X:.*]] = nb.grating %[[DELTA]], %{{.*}} order [1, 0, 0] : !nb.vec3<f64> -> f32
// MIXED: %[[V:.*]] = nb.vec %[[X]], %[[X]], %[[L]] : f32
// MIXED: %[[S:.*]] = nb.scale %[[V]], %[[L]] : !nb.vec3<f32>
// MIXED-COUNT-3: arith.extf
// MIXED: %[[W:.*]] = nb.vec %{{.*}} : f64
// MIXED: nb.dot %[[W]], %{{.*}} : !nb.vec3<f64>
func.func @derivative(%D: !nb.mat3<f64>, %N: !nb.vec3<f64>, %n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %q = nb.vec %x, %x, %size : f64
    %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
    %nearest = nb.nearest_miller_index %hkl : !nb.vec3<f64>
    %delta = nb.sub %hkl, %nearest : !nb.vec3<f64>
    %L = nb.grating %delta, %N : !nb.vec3<f64>
    %slope = nb.grating %delta, %N order [1, 0, 0] : !nb.vec3<f64>
    %v = nb.vec %slope, %slope, %L : f64
    %scaled = nb.scale %v, %L : !nb.vec3<f64>
    %y = nb.dot %scaled, %q : !nb.vec3<f64>
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}

// The only exponential that is rounded is that of a distance to a reflection; its exponent is computed
// in f64.

// CHECK-LABEL: func.func @spot
// MIXED: %[[SQUARE:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// MIXED: %[[ROUNDED:.*]] = arith.truncf %[[SQUARE]] : f64 to f32
// MIXED: math.exp %[[ROUNDED]] : f32
// MIXED: math.exp %{{.*}} : f64
func.func @spot(%D: !nb.mat3<f64>, %n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %q = nb.vec %x, %x, %size : f64
    %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
    %nearest = nb.nearest_miller_index %hkl : !nb.vec3<f64>
    %delta = nb.sub %hkl, %nearest : !nb.vec3<f64>
    %h = nb.component %delta[0] : !nb.vec3<f64>
    %square = arith.mulf %h, %h : f64
    %spot = math.exp %square : f64
    %absorbed = math.exp %x : f64
    %y = arith.mulf %spot, %absorbed : f64
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}

// Without a lattice amplitude in f32 a structure factor would only be rounded for nothing.

// CHECK-LABEL: func.func @round
// MIXED-NOT: f32
// CHECK: return
func.func @round(%F: !nb.hkl_grid<f64>, %n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %hkl = nb.vec %x, %x, %size : f64
    %known = nb.structure_factor nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
    %u = arith.mulf %x, %x : f64
    %L = nb.ball %u : f64
    %y = arith.mulf %L, %known : f64
    nb.yield %y : f64
  }
  return %img : tensor<?x?x?xf64>
}
