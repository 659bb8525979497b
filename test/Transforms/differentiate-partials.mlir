// RUN: nb-opt %s --nb-differentiate="function=light mode=jvp parameters=place,width,height directions=8" | FileCheck %s
// RUN: nb-opt %s --nb-differentiate="function=light mode=jvp parameters=place,width,height directions=8" --verify-roundtrip -o /dev/null
// RUN: nb-opt %s --nb-differentiate="function=light mode=jvp parameters=place,width,height directions=4" | FileCheck %s --check-prefix=FEW

// Along many directions a term is differentiated once, with respect to what it looks up and to what it captures:
// each tangent is a sum of products with these derivatives. Lookups of an inner loop move ahead of it.

// CHECK-LABEL: func.func @light_jvp
// CHECK: nb.sum reflection {{.*}} : f64, f64, f64, f64, f64, f64, f64, f64, f64 {
// CHECK: nb.lookup inbounds %place
// CHECK: nb.lookup inbounds %width
// CHECK: nb.sum subslow {{.*}} : f64 {
// CHECK: %[[ADJ:.*]]:2 = nb.sum subslow {{.*}} : f64, f64 {
// CHECK: %[[BY_PLACE:.*]] = arith.negf %[[ADJ]]#0
// CHECK: %[[D_SIGMA:.*]] = nb.lookup inbounds %tangent.width.1
// CHECK: arith.mulf %[[ADJ]]#1, %[[D_SIGMA]]
// CHECK: %[[D_AT:.*]] = nb.lookup inbounds %tangent.place.1
// CHECK: arith.mulf %[[BY_PLACE]], %[[D_AT]]
// CHECK-NOT: math.exp
// CHECK: return

// Along few, its operations have tangents.
// FEW-LABEL: func.func @light_jvp
// FEW-NOT: adj_
// FEW: return
func.func @light(%place: !nb.table<?xf64> {nb.name = "place"},
                 %width: !nb.table<?xf64> {nb.name = "width"}, %height: f64 {nb.name = "height"},
                 %x: f64, %n: index, %nodes: index) -> f64 {
  %sum = nb.sum reflection %i in %n : f64 {
    %at = nb.lookup inbounds %place[%i] : !nb.table<?xf64>
    %off = arith.subf %x, %at : f64
    %inner = nb.sum subslow %j in %nodes : f64 {
      %sigma = nb.lookup inbounds %width[%i] : !nb.table<?xf64>
      %part = arith.divf %off, %sigma : f64
      %square = arith.mulf %part, %part : f64
      %cube = arith.mulf %square, %part : f64
      %both = arith.addf %square, %cube : f64
      %minus = arith.negf %both : f64
      %fall = math.exp %minus : f64
      %sine = math.sin %fall : f64
      %cosine = math.cos %part : f64
      %term = arith.mulf %sine, %cosine : f64
      nb.yield %term : f64
    }
    %light = arith.mulf %height, %inner : f64
    nb.yield %light : f64
  }
  return %sum : f64
}
