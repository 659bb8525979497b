// RUN: nb-opt --nb-differentiate="function=square mode=vjp parameters=x" %s | FileCheck %s --check-prefix=VJP
// RUN: nb-opt --nb-differentiate="function=square mode=jacobian parameters=x" %s | FileCheck %s --check-prefix=JAC
// RUN: nb-opt --nb-differentiate="function=square mode=jvp parameters=x directions=2" %s | FileCheck %s --check-prefix=JVP
// RUN: nb-opt --nb-differentiate="function=square mode=hvp parameters=x" %s | FileCheck %s --check-prefix=HVP
// RUN: nb-opt --nb-differentiate="function=weigh mode=vjp parameters=w,s" %s | FileCheck %s --check-prefix=SUM
// RUN: nb-opt --nb-differentiate="function=image mode=vjp parameters=scale value=false" %s | FileCheck %s --check-prefix=IMAGE
// RUN: nb-opt --nb-differentiate="function=table mode=vjp parameters=0" %s | FileCheck %s --check-prefix=TABLE
// RUN: nb-opt --nb-differentiate="function=flat mode=jacobian parameters=y" %s | FileCheck %s --check-prefix=FLAT
// RUN: nb-opt --nb-differentiate="function=reject mode=vjp parameters=d" %s | FileCheck %s --check-prefix=ZEROS
// RUN: nb-opt --nb-differentiate="function=search mode=vjp parameters=x" %s | FileCheck %s --check-prefix=FIRST

// VJP-LABEL: func.func @square_vjp
// VJP-SAME:    %[[X:[a-z0-9_]+]]: f64 {nb.name = "x"}, %[[G:[a-z0-9_]+]]: f64 {nb.name = "y_cotangent"}
// VJP-SAME:    -> (f64 {nb.name = "y"}, f64 {nb.name = "gradient.x"})
// VJP:         %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : f64
// VJP:         %[[A:.*]] = arith.mulf %[[G]], %[[X]]
// VJP:         %[[D:.*]] = arith.addf %[[A]], %[[A]]
// VJP:         return %[[Y]], %[[D]] : f64, f64

// JAC-LABEL: func.func @square_jacobian
// JAC-SAME:    -> (f64 {nb.name = "y"}, f64 {nb.name = "derivative.x"})

// JVP-LABEL: func.func @square_jvp
// JVP-SAME:    {nb.name = "tangent.x.1"}
// JVP-SAME:    {nb.name = "tangent.x.2"}
// JVP-SAME:    -> (f64 {nb.name = "y"}, f64 {nb.name = "jvp.y.1"}, f64 {nb.name = "jvp.y.2"})

// HVP-LABEL: func.func @square_vjp_hvp
// HVP-SAME:    {nb.name = "y_cotangent"}
// HVP-SAME:    {nb.name = "tangent.x"}
// HVP-SAME:    {nb.name = "gradient.x"}, f64 {nb.name = "hvp.x"})
func.func @square(%x: f64 {nb.name = "x"}) -> (f64 {nb.name = "y"}) {
  %y = arith.mulf %x, %x : f64
  return %y : f64
}

// The adjoint of a sum is a sum; that of a lookup is a scatter in it.
// SUM-LABEL: func.func @weigh_vjp
// SUM-SAME:    %[[W:[a-z0-9_]+]]: !nb.table<?xf64>
// SUM-SAME:    %[[S:[a-z0-9_]+]]: f64
// SUM-SAME:    %[[N:[a-z0-9_]+]]: index
// SUM-SAME:    %[[G:[a-z0-9_]+]]: f64
// SUM:         nb.sum source
// SUM:         %[[R:.*]]:2 = nb.sum source %[[I:.*]] in %[[N]] : {{.*}} {
// SUM-DAG:       %[[L:.*]] = nb.lookup %[[W]][%[[I]]]
// SUM-DAG:       %[[LG:.*]] = arith.mulf %[[G]], %[[S]]
// SUM-DAG:       nb.scatter {{.*}} at [%[[I]]] in (%[[N]]) : !nb.table<?xf64>
// SUM:           nb.yield
// SUM:         return
// SUM-SAME:    !nb.table<?xf64>, f64
func.func @weigh(%w: !nb.table<?xf64> {nb.name = "w"}, %s: f64 {nb.name = "s"},
                 %n: index) -> f64 {
  %sum = nb.sum source %i in %n : f64 {
    %x = nb.lookup %w[%i] : !nb.table<?xf64>
    %y = arith.mulf %x, %s : f64
    nb.yield %y : f64
  }
  return %sum : f64
}

// The adjoint of an image is an image that adds up over its pixels, roi and mask as they were.
// IMAGE-LABEL: func.func @image_vjp
// IMAGE-SAME:    %[[SCALE:[a-z0-9_]+]]: f64
// IMAGE-SAME:    %[[M:[a-z0-9_]+]]: tensor<?x?x?xi8>
// IMAGE-SAME:    %[[C:[a-z0-9_]+]]: tensor<?x?x?xf64> {nb.name = "image_cotangent"}) -> (f64 {nb.name = "gradient.scale"})
// IMAGE-NOT:     tensor<?x?x?xf32>
// IMAGE:         %[[R:.*]] = nb.image panel %[[P:.*]] in {{.*}}, slow %[[S:.*]] in {{.*}}, fast %[[F:.*]] in {{.*}} roi({{.*}}) mask(%[[M]]
// IMAGE-SAME:    : f64 {
// IMAGE:           %[[PIXEL:.*]] = nb.read_pixel %[[C]][%[[P]], %[[S]], %[[F]]]
// IMAGE:           nb.yield
// IMAGE:         return %[[R]] : f64
func.func @image(%scale: f64 {nb.name = "scale"}, %n: index, %m: tensor<?x?x?xi8>) -> tensor<?x?x?xf32> {
  %img = nb.image panel %p in %n, slow %s in %n, fast %f in %n roi(%n, %n, %n, %n)
           mask(%m : tensor<?x?x?xi8>) : tensor<?x?x?xf32> {
    %i = arith.index_cast %f : index to i64
    %x = arith.sitofp %i : i64 to f64
    %y = arith.mulf %x, %scale : f64
    %t = arith.truncf %y : f64 to f32
    nb.yield %t : f32
  }
  return %img : tensor<?x?x?xf32>
}

// What the sum adds to the table's adjoint goes on to what the table was made of, entry by entry.
// TABLE-LABEL: func.func @table_vjp
// TABLE:         %[[T:.*]] = nb.tabulate mosaic
// TABLE:         %[[A:.*]] = nb.sum mosaic {{.*}} : !nb.table<?xf64> {
// TABLE:           nb.scatter
// TABLE:         %[[G:.*]] = nb.sum mosaic %[[J:.*]] in {{.*}} : f64 {
// TABLE:           nb.lookup %[[A]][%[[J]]]
// TABLE:         return {{.*}}, %[[G]] : f64, f64
func.func @table(%spread: f64, %angles: !nb.table<?xf64>, %n: index) -> f64 {
  %t = nb.tabulate mosaic %j in %n : !nb.table<?xf64> {
    %a = nb.lookup %angles[%j] : !nb.table<?xf64>
    %b = arith.mulf %a, %spread : f64
    nb.yield %b : f64
  }
  %sum = nb.sum mosaic %j in %n : f64 {
    %b = nb.lookup %t[%j] : !nb.table<?xf64>
    %c = arith.mulf %b, %b : f64
    nb.yield %c : f64
  }
  return %sum : f64
}

// Only the combination that was found passes its adjoint on.
// FIRST-LABEL: func.func @search_vjp
// FIRST:         nb.first source
// FIRST:         %[[FOUND:.*]] = nb.first source
// FIRST:         nb.sum source
// FIRST:           %[[IS:.*]] = arith.cmpf oeq, {{.*}}, %[[FOUND]]
// FIRST:           arith.select %[[IS]]
func.func @search(%x: f64 {nb.name = "x"}, %w: !nb.table<?xf64>, %n: index) -> f64 {
  %zero = arith.constant 0.0 : f64
  %r = nb.first source %i in %n : f64 {
    %v = nb.lookup %w[%i] : !nb.table<?xf64>
    %keep = arith.cmpf ogt, %v, %zero : f64
    %y = arith.mulf %v, %x : f64
    nb.yield %keep, %y : i1, f64
  }
  return %r : f64
}

// What an image does not depend on has an image of zeros for a derivative, roi as it was.
// FLAT-LABEL: func.func @flat_jacobian
// FLAT-SAME:    -> (tensor<?x?x?xf32> {nb.name = "image"}, tensor<?x?x?xf32> {nb.name = "derivative.y"})
// FLAT:         %[[I:.*]] = nb.image
// FLAT:         %[[Z:.*]] = nb.image {{.*}} roi(%{{.*}}) : tensor<?x?x?xf32> {
// FLAT-NEXT:      %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// FLAT-NEXT:      nb.yield %[[ZERO]]
// FLAT:         return %[[I]], %[[Z]]
func.func @flat(%x: f32 {nb.name = "x"}, %y: f64 {nb.name = "y"}, %n: index)
    -> tensor<?x?x?xf32> {
  %image = nb.image panel %p in %n, slow %s in %n, fast %f in %n roi(%n, %n, %n, %n)
      : tensor<?x?x?xf32> {
    nb.yield %x : f32
  }
  return %image : tensor<?x?x?xf32>
}

// What does not depend on a table has a table of zeros for a gradient.
// ZEROS-LABEL: func.func @reject_vjp
// ZEROS-SAME:    %[[N:[a-z0-9_]+]]: index
// ZEROS:         %[[Z:.*]] = nb.tabulate source %{{.*}} in %[[N]] : !nb.table<?x!nb.vec3<f64>> {
// ZEROS:           nb.yield %{{.*}} : !nb.vec3<f64>
// ZEROS:         return %{{.*}}, %[[Z]] : f64, !nb.table<?x!nb.vec3<f64>>
func.func @reject(%d: !nb.table<?x!nb.vec3<f64>> {nb.name = "d"}, %n: index, %x: f64) -> f64 {
  %sum = nb.sum source %i in %n : f64 {
    %v = nb.lookup %d[%i] : !nb.table<?x!nb.vec3<f64>>
    %nearest = nb.nearest_miller_index %v : !nb.vec3<f64>
    %c = nb.component %nearest[0] : !nb.vec3<f64>
    %keep = arith.cmpf ogt, %c, %x : f64
    %y = arith.select %keep, %x, %c : f64
    nb.yield %y : f64
  }
  return %sum : f64
}
