// RUN: nb-opt %s --nb-vectorize=width=4 --split-input-file | FileCheck %s

// What depends on the fast index becomes lanes; the rest stays scalar and is spread where it meets
// them.

// CHECK-LABEL: func.func @lanes
// CHECK: nb.image {{.*}}, fast %[[FAST:.*]] in %{{.*}} lanes(4)
// CHECK-DAG: %[[N:.*]] = vector.broadcast %{{.*}} : index to vector<4xindex>
// CHECK-DAG: %[[SIZE:.*]] = vector.broadcast %{{.*}} : f64 to vector<4xf64>
// CHECK-DAG: %[[AREA:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK-DAG: %[[SPREAD:.*]] = vector.broadcast %[[AREA]] : f64 to vector<4xf64>
// CHECK: nb.detector_coordinate %[[FAST]], %{{.*}}, %{{.*}}, %{{.*}} : vector<4xindex>, vector<4xf64>
// CHECK: arith.mulf %{{.*}}, %[[SPREAD]] : vector<4xf64>
// CHECK: nb.yield %{{.*}} : vector<4xf64>
func.func @lanes(%n: index, %size: f64) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %area = arith.mulf %size, %size : f64
    %F = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %x = arith.mulf %F, %area : f64
    nb.yield %x : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

// A sum runs its scalar loop over lanes; vectors and matrices are spread by nb.splat.

// CHECK-LABEL: func.func @sums
// CHECK: nb.sum source %[[I:.*]] in %{{.*}} : vector<4xf64>
// CHECK: %[[AXIS:.*]] = nb.lookup %{{.*}}[%[[I]]] : !nb.table<?x!nb.vec3<f64>>
// CHECK: %[[SPLAT:.*]] = nb.splat %[[AXIS]] : !nb.vec3<f64> to !nb.vec3<vector<4xf64>>
// CHECK: nb.scale %[[SPLAT]], %{{.*}} : !nb.vec3<vector<4xf64>>
// CHECK: nb.yield %{{.*}} : vector<4xf64>
func.func @sums(%n: index, %size: f64, %axes: !nb.table<?x!nb.vec3<f64>>) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %F = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %I = nb.sum source %i in %n : f64 {
      %axis = nb.lookup %axes[%i] : !nb.table<?x!nb.vec3<f64>>
      %v = nb.scale %axis, %F : !nb.vec3<f64>
      %r = nb.norm %v : !nb.vec3<f64>
      nb.yield %r : f64
    }
    nb.yield %I : f64
  }
  return %img : tensor<?x?x?xf64>
}

// -----

// Grids and their lookups: the grid is shared, indices and results are lanes; f32 images too.

// CHECK-LABEL: func.func @lookups
// CHECK: nb.structure_factor nearest %{{.*}}[%{{.*}}] : !nb.hkl_grid<f64>, !nb.vec3<vector<4xf64>>
// CHECK: arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
func.func @lookups(%n: index, %size: f64, %F: !nb.hkl_grid<f64>) -> tensor<?x?x?xf32> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf32> {
    %x = nb.detector_coordinate %f, %s, %n, %size : index, f64
    %hkl = nb.vec %x, %x, %size : f64
    %v = nb.structure_factor nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
    %w = arith.truncf %v : f64 to f32
    nb.yield %w : f32
  }
  return %img : tensor<?x?x?xf32>
}

// -----

// What a row has at one place is the same for all of its pixels.

// CHECK-LABEL: func.func @of_the_row
// CHECK: %[[A:.*]] = nb.read_pixel %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?x?xf64>
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: nb.lookup %{{.*}}[%[[I]]] : !nb.table<?xf64>
func.func @of_the_row(%n: index, %panels: tensor<?x?x?xf64>, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %zero = arith.constant 0 : index
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %a = nb.read_pixel %panels[%p, %s, %zero] : tensor<?x?x?xf64>
    %b = arith.fptosi %a : f64 to i64
    %i = arith.index_cast %b : i64 to index
    %x = nb.lookup %t[%i] : !nb.table<?xf64>
    nb.yield %x : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// Lanes are multiplied by the reciprocal of what divides all of them, with the flags of the division.

// CHECK-LABEL: func.func @division
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,arcp,contract> : vector<4xf64>
func.func @division(%n: index, %x: f64) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    %y = arith.divf %column, %x fastmath<reassoc,arcp,contract> : f64
    nb.yield %y : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// A lookup that branches on pixels guard reads its entry where any lane takes all of them.

// CHECK-LABEL: func.func @guarded
// CHECK: %[[C:.*]] = arith.cmpi ult, {{.*}} : vector<4xindex>
// CHECK: %[[D:.*]] = arith.cmpi ugt, {{.*}} : vector<4xindex>
// CHECK: %[[NOT_D:.*]] = arith.xori %[[D]], %{{.*}} : vector<4xi1>
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %{{.*}} : vector<4xi1>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[BOTH]] : vector<4xi1> into i1
// CHECK: %[[I:.*]] = arith.select %[[ANY]], %i, %{{.*}} : index
// CHECK: nb.lookup %t[%[[I]]] : !nb.table<?xf64>
func.func @guarded(%n: index, %i: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f64
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %c = arith.cmpi ult, %f, %i : index
    %d = arith.cmpi ugt, %f, %s : index
    %inner = arith.select %d, %zero, %i {nb.guard} : index
    %outer = arith.select %c, %inner, %zero {nb.guard} : index
    %x = nb.lookup %t[%outer] : !nb.table<?xf64>
    %y = arith.select %c, %x, %none : f64
    nb.yield %y : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// A loop that all lanes take the same way carries lanes, and a place as it is.

// CHECK-LABEL: func.func @loop
// CHECK: %[[FROM:.*]] = arith.sitofp %{{.*}} : vector<4xi64> to vector<4xf64>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[FROM]], %[[AT:.*]] = %{{.*}}) -> (vector<4xf64>, index) {
// CHECK: nb.lookup %{{.*}}[%[[AT]]] : !nb.table<?xf64>
// CHECK: %[[NEXT:.*]] = arith.mulf %[[A]], %{{.*}} : vector<4xf64>
// CHECK: scf.yield %[[NEXT]], %{{.*}} : vector<4xf64>, index
// CHECK: nb.yield %[[R]]#0
func.func @loop(%n: index, %one: index, %t: !nb.table<?xf64>) -> tensor<?x?x?xf64> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %column = arith.sitofp %i : i64 to f64
    %r:2 = scf.for %k = %one to %n step %one iter_args(%a = %column, %at = %one) -> (f64, index) {
      %x = nb.lookup %t[%at] : !nb.table<?xf64>
      %next = arith.mulf %a, %x : f64
      %behind = arith.addi %at, %one : index
      scf.yield %next, %behind : f64, index
    }
    nb.yield %r#0 : f64
  }
  return %image : tensor<?x?x?xf64>
}

// -----

// A division stays one, unless its flags allow the reciprocal of a divisor that all lanes share.

// CHECK-LABEL: func.func @divisions
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<4xf64>
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %d fastmath<arcp> : f64
// CHECK: %[[L:.*]] = vector.broadcast %[[R]] : f64 to vector<4xf64>
// CHECK: arith.mulf %{{.*}}, %[[L]] fastmath<arcp> : vector<4xf64>
func.func @divisions(%n: index, %d: f64) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %a, %b = nb.image panel %p in %n, slow %s in %n, fast %f in %n
      : tensor<?x?x?xf64>, tensor<?x?x?xf64> {
    %i = arith.index_cast %f : index to i64
    %x = arith.sitofp %i : i64 to f64
    %q = arith.divf %x, %d : f64
    %r = arith.divf %x, %d fastmath<arcp> : f64
    nb.yield %q, %r : f64, f64
  }
  return %a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}
