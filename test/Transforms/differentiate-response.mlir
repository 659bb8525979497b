// RUN: nb-opt --nb-differentiate="mode=vjp parameters=x,gain value=false" %s | FileCheck %s --check-prefix=VJP
// RUN: nb-opt --nb-differentiate="mode=jvp parameters=gain" %s | FileCheck %s --check-prefix=JVP
// RUN: nb-opt --nb-differentiate="mode=hvp parameters=gain,x" %s | FileCheck %s --check-prefix=HVP

// A stage is differentiated as part of the image that it follows. Its adjoint multiplies the
// cotangent of the pixel by the gain, on the way to the photons; the gain's gradient is the sum over
// the pixels of cotangent times photons.
// VJP-LABEL: func.func @image_vjp
// VJP-SAME:    %[[N:[a-z0-9_]+]]: index, %[[X:[a-z0-9_]+]]: f64 {{{.*}}}, %[[GAIN:[a-z0-9_]+]]: f64 {{{.*}}}, %[[G:[a-z0-9_]+]]: tensor<?x?x?xf64>
// VJP-NOT:     nb.gain
// VJP:         %[[R:.*]]:2 = nb.image panel {{.*}} : f64, f64 {
// VJP:           %[[PHOTONS:.*]] = arith.mulf %[[X]], %[[X]]
// VJP:           %[[PIXEL:.*]] = nb.read_pixel %[[G]]
// VJP-DAG:       %[[TO:.*]] = arith.mulf %[[PIXEL]], %[[GAIN]]
// VJP-DAG:       arith.mulf %[[PIXEL]], %[[PHOTONS]]
// VJP:           nb.yield

// The tangent of the image is the photons times the tangent of the gain.
// JVP-LABEL: func.func @image_jvp
// JVP-SAME:    %[[T:[a-z0-9_.]+]]: f64 {nb.name = "tangent.gain"}
// JVP:         nb.image {{.*}} : tensor<?x?x?xf64>, tensor<?x?x?xf64> {
// JVP:           %[[PHOTONS:.*]] = arith.mulf
// JVP:           %[[D:.*]] = arith.mulf %[[T]], %[[PHOTONS]]
// JVP:           nb.yield %{{.*}}, %[[D]]

// HVP-LABEL: func.func @image_vjp_hvp
// HVP-SAME:    {nb.name = "hvp.gain"}
// HVP-SAME:    {nb.name = "hvp.x"}
func.func @image(%n: index, %x: f64 {nb.name = "x"}, %gain: f64 {nb.name = "gain"})
    -> tensor<?x?x?xf64> {
  %photons = nb.image panel %p in %n, slow %s in %n, fast %f in %n : tensor<?x?x?xf64> {
    %y = arith.mulf %x, %x : f64
    nb.yield %y : f64
  }
  %adu = nb.gain %photons, %gain : tensor<?x?x?xf64>
  return %adu : tensor<?x?x?xf64>
}
