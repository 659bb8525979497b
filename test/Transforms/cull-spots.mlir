// RUN: nb-opt %s --nb-cull | FileCheck %s
// RUN: nb-opt %s --nb-cull --verify-roundtrip -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline -o /dev/null
// RUN: nb-opt %s --nb-cpu-pipeline=derivative=vjp(spot_fast) -o /dev/null
// RUN: nb-opt %s --nb-cull --remarks-filter=nb-cull -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The image of a table of spots: the places and ellipses of all stand ahead of it, up to where the
// light has fallen to the tolerance times the peak on the Ewald sphere.

// REMARK: spots are added to the pixels that they light; pixels without light are not computed

// CHECK-LABEL: @image
// CHECK: nb.tabulate reflection
// CHECK-DAG: nb.lookup inbounds %spot_fast
// CHECK-DAG: nb.lookup inbounds %spot_slow
// CHECK-DAG: nb.lookup inbounds %spot_panel
// CHECK: nb.tabulate reflection
// CHECK: nb.lookup inbounds %spot_depth
// CHECK: arith.subf
// CHECK: arith.maximumf
// CHECK: nb.lookup inbounds %spot_fast_fast
// CHECK: nb.lookup inbounds %spot_slow_slow
// CHECK: nb.lookup inbounds %spot_fast_slow
// CHECK: nb.reach numbers({{.*}}) tables(
// CHECK-NEXT: nb.image {{.*}} attributes {nb.lit}
// CHECK: nb.sum reflection {{.*}} attributes {nb.lit = array<i64: 2>}
func.func @image(%spot_fast: !nb.table<?xf64> {nb.name = "spot_fast"},
                 %spot_slow: !nb.table<?xf64> {nb.name = "spot_slow"},
                 %spot_fast_fast: !nb.table<?xf64> {nb.name = "spot_fast_fast"},
                 %spot_fast_slow: !nb.table<?xf64> {nb.name = "spot_fast_slow"},
                 %spot_slow_slow: !nb.table<?xf64> {nb.name = "spot_slow_slow"},
                 %spot_depth: !nb.table<?xf64> {nb.name = "spot_depth"},
                 %spot_panel: !nb.table<?xf64> {nb.name = "spot_panel"},
                 %spots: index {nb.name = "spots"},
                 %np: index, %ns: index, %nf: index) -> tensor<?x?x?xf64>
    attributes {nb.cull = 1.0e-4} {
  %image = nb.image panel %p in %np, slow %i in %ns, fast %j in %nf : tensor<?x?x?xf64> {
    %j64 = arith.index_cast %j : index to i64
    %x = arith.sitofp %j64 : i64 to f64
    %light = nb.sum reflection %n in %spots : f64 {
      %at = nb.lookup inbounds %spot_fast[%n] : !nb.table<?xf64>
      %width = nb.lookup inbounds %spot_fast_fast[%n] : !nb.table<?xf64>
      %off = arith.subf %x, %at : f64
      %square = arith.mulf %off, %off : f64
      %form = arith.divf %square, %width : f64
      %minus = arith.negf %form : f64
      %fall = math.exp %minus : f64
      nb.yield %fall : f64
    }
    nb.yield %light : f64
  }
  return %image : tensor<?x?x?xf64>
}
