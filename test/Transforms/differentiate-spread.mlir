// RUN: nb-opt --nb-differentiate="mode=vjp parameters=x,gain,w value=false" %s | FileCheck %s --check-prefix=VJP
// RUN: nb-opt --nb-differentiate="mode=jvp parameters=x,w" %s | FileCheck %s --check-prefix=JVP
// RUN: nb-opt --nb-differentiate="mode=hvp parameters=gain,x,w,p" %s | FileCheck %s --check-prefix=HVP

// All light is spread; the region, the mask and the gain are in an image that reads what came of it.
// The adjoint of that image's pixels is an image, whose spread is the adjoint of the photons.
// VJP-LABEL: func.func @image_vjp
// VJP-SAME:    %[[GAIN:[a-z0-9_]+]]: f64 {nb.name = "gain"}, %[[W:[a-z0-9_]+]]: f64 {nb.name = "w"}, %[[P:[a-z0-9_]+]]: f64 {nb.name = "p"}
// VJP:         %[[PHOTONS:.*]] = nb.image
// VJP:         %[[LIGHT:.*]] = nb.point_spread fiber %[[PHOTONS]], fwhm %[[W]], pixel_size %[[P]], radius %{{[a-z]+}} : tensor<?x?x?xf64>
// VJP:         %[[ADJ:.*]]:2 = nb.image {{.*}} roi({{.*}}) mask({{.*}}) : f64, tensor<?x?x?xf64> {
// VJP:           nb.read_pixel %[[LIGHT]]
// VJP:         %[[SENT:.*]] = nb.point_spread fiber %[[ADJ]]#1, fwhm %[[W]], pixel_size %[[P]]
// VJP:         %[[SLOPE:.*]] = nb.point_spread fiber %[[PHOTONS]], {{.*}} {order = 1 : i64}
// By the width it is the sum of both images' product, times the rate of the shares.
// VJP:         %[[SUM:.*]] = nb.image {{.*}} : f64 {
// VJP-DAG:       nb.read_pixel %[[ADJ]]#1
// VJP-DAG:       nb.read_pixel %[[SLOPE]]
// VJP:         arith.mulf %[[SUM]],
// VJP:         nb.image {{.*}} : f64 {
// VJP:           nb.read_pixel %[[SENT]]
// VJP-NOT:     nb.point_spread

// JVP-LABEL: func.func @image_jvp
// JVP:         %[[LIGHT:.*]]:2 = nb.image {{.*}} : tensor<?x?x?xf64>, tensor<?x?x?xf64> {
// JVP:         nb.point_spread fiber %[[LIGHT]]#0, {{.*}} : tensor
// JVP:         nb.point_spread fiber %[[LIGHT]]#1, {{.*}} : tensor
// JVP:         nb.point_spread fiber %[[LIGHT]]#0, {{.*}} {order = 1 : i64}
// JVP-NOT:     nb.point_spread

// HVP-LABEL: func.func @image_vjp_hvp
// HVP-SAME:    {nb.name = "hvp.gain"}
// HVP-SAME:    {nb.name = "hvp.p"}
// HVP:         {order = 2 : i64}
// HVP-NOT:     {order = 3 : i64}
func.func @image(%n: index, %x: f64 {nb.name = "x"}, %gain: f64 {nb.name = "gain"},
                 %w: f64 {nb.name = "w"}, %p: f64 {nb.name = "p"}, %r: index,
                 %m: tensor<?x?x?xi8>) -> tensor<?x?x?xf32> {
  %photons = nb.image panel %q in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %y = arith.mulf %x, %x : f64
    nb.yield %y : f64
  }
  %light = nb.point_spread fiber %photons, fwhm %w, pixel_size %p, radius %r roi(%n, %n, %n, %n)
      mask(%m : tensor<?x?x?xi8>) : tensor<?x?x?xf64>
  %adu = nb.gain %light, %gain : tensor<?x?x?xf64> to tensor<?x?x?xf32>
  return %adu : tensor<?x?x?xf32>
}
