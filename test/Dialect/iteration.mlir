// RUN: nb-opt %s --verify-roundtrip | nb-opt | FileCheck %s
// RUN: nb-opt %s --mlir-print-op-generic | nb-opt | FileCheck %s

// CHECK-LABEL: func.func @image
// CHECK: nb.image panel %[[P:.*]] in %[[NP:.*]], slow %[[S:.*]] in %[[NS:.*]], fast %[[F:.*]] in %[[NF:.*]] roi(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) mask(%{{.*}} : tensor<?x?x?xi8>) : tensor<?x?x?xf64> {
// CHECK-NEXT: nb.yield %{{.*}} : f64
// CHECK: %{{.*}}:2 = nb.image panel {{.*}} : tensor<?x?x?xf64>, tensor<?x?x?xf32> {
// CHECK-NEXT: nb.yield %{{.*}}, %{{.*}} : f64, f32
func.func @image(%np: index, %ns: index, %nf: index, %f0: index, %f1: index, %s0: index,
                 %s1: index, %mask: tensor<?x?x?xi8>, %one: f64, %two: f32)
    -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf32>) {
  %img = nb.image panel %p in %np, slow %s in %ns, fast %f in %nf
           roi(%f0, %f1, %s0, %s1) mask(%mask : tensor<?x?x?xi8>) : tensor<?x?x?xf64> {
    nb.yield %one : f64
  }
  %a, %b = nb.image panel %p in %np, slow %s in %ns, fast %f in %nf
      : tensor<?x?x?xf64>, tensor<?x?x?xf32> {
    nb.yield %one, %two : f64, f32
  }
  return %img, %a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf32>
}

// Lanes of several rows: both induction variables of a pixel are lanes.
// CHECK-LABEL: func.func @rows
// CHECK: nb.image panel %{{.*}}, slow %[[S:.*]] in %{{.*}}, fast %[[F:.*]] in %{{.*}} lanes(8) rows(2) : tensor<?x?x?xf64> {
// CHECK: nb.read_pixel %{{.*}}[%{{.*}}, %[[S]], %[[F]]] : tensor<?x?x?xf64> to vector<8xf64> in rows
// CHECK: nb.detector_coordinate %[[S]],
func.func @rows(%n: index, %image: tensor<?x?x?xf64>, %i: vector<8xindex>, %size: vector<8xf64>)
    -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) rows(2) : tensor<?x?x?xf64> {
    %v = nb.read_pixel %image[%p, %s, %f] : tensor<?x?x?xf64> to vector<8xf64> in rows
    %x = nb.detector_coordinate %s, %i, %i, %size : vector<8xindex>, vector<8xf64>
    %y = arith.addf %v, %x : vector<8xf64>
    nb.yield %y : vector<8xf64>
  }
  return %img : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @lanes
// CHECK: nb.image panel %{{.*}}, fast %[[F:.*]] in %{{.*}} lanes(8) : tensor<?x?x?xf64> {
// CHECK-NEXT: arith.index_cast %[[F]] : vector<8xindex> to vector<8xi64>
// CHECK: nb.yield %{{.*}} : vector<8xf64>
func.func @lanes(%n: index) -> tensor<?x?x?xf64> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n lanes(8) : tensor<?x?x?xf64> {
    %i = arith.index_cast %f : vector<8xindex> to vector<8xi64>
    %x = arith.sitofp %i : vector<8xi64> to vector<8xf64>
    nb.yield %x : vector<8xf64>
  }
  return %img : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @sums
// CHECK: nb.sum source %[[I:.*]] in %{{.*}}, mosaic %{{.*}} in %{{.*}} : f64 {
// CHECK-NEXT: nb.lookup %{{.*}}[%[[I]]] : !nb.table<?xf64>
// CHECK-NEXT: nb.yield
// CHECK: nb.sum layer %{{.*}}, subslow %{{.*}}, subfast %{{.*}}, phi %{{.*}} : f64, vector<4xf32> {
// CHECK: nb.first source %{{.*}} in %{{.*}} : f64 {
// CHECK: nb.yield %{{.*}}, %{{.*}} : i1, f64
func.func @sums(%sources: index, %domains: index, %weights: !nb.table<?xf64>, %zero: f64,
                %v: vector<4xf32>) -> (f64, f64, vector<4xf32>, f64) {
  %I = nb.sum source %i in %sources, mosaic %j in %domains : f64 {
    %w = nb.lookup %weights[%i] : !nb.table<?xf64>
    nb.yield %w : f64
  }
  %a, %b = nb.sum layer %l in %sources, subslow %s in %sources, subfast %f in %sources,
                  phi %p in %sources : f64, vector<4xf32> {
    nb.yield %zero, %v : f64, vector<4xf32>
  }
  %polar = nb.first source %i in %sources : f64 {
    %x = nb.lookup %weights[%i] : !nb.table<?xf64>
    %keep = arith.cmpf ogt, %x, %zero : f64
    nb.yield %keep, %x : i1, f64
  }
  return %I, %a, %b, %polar : f64, f64, vector<4xf32>, f64
}

// CHECK-LABEL: func.func @tables
// CHECK: nb.tabulate mosaic %[[J:.*]] in %{{.*}} : !nb.table<?x!nb.mat3<f64>> {
// CHECK-NEXT: nb.lookup inbounds %{{.*}}[%[[J]]] : !nb.table<?x!nb.vec3<f64>>
// CHECK: nb.yield %{{.*}} : !nb.mat3<f64>
// CHECK: nb.tabulate phi %{{.*}} in %{{.*}}, mosaic %{{.*}} in %{{.*}} : !nb.table<?x?xindex>, !nb.table<?x?xi1> {
func.func @tables(%phis: index, %domains: index, %axes: !nb.table<?x!nb.vec3<f64>>, %spread: f64,
                  %yes: i1)
    -> (!nb.table<?x!nb.mat3<f64>>, !nb.table<?x?xindex>, !nb.table<?x?xi1>) {
  %U = nb.tabulate mosaic %j in %domains : !nb.table<?x!nb.mat3<f64>> {
    %axis = nb.lookup inbounds %axes[%j] : !nb.table<?x!nb.vec3<f64>>
    %u = nb.axis_rotation %axis, %spread : !nb.vec3<f64>
    nb.yield %u : !nb.mat3<f64>
  }
  %a, %b = nb.tabulate phi %i in %phis, mosaic %j in %domains
      : !nb.table<?x?xindex>, !nb.table<?x?xi1> {
    nb.yield %j, %yes : index, i1
  }
  return %U, %a, %b : !nb.table<?x!nb.mat3<f64>>, !nb.table<?x?xindex>, !nb.table<?x?xi1>
}
