// RUN: nb-opt --nb-differentiate="function=position mode=jvp parameters=angle" %s | FileCheck %s --check-prefix=JVP
// RUN: nb-opt --nb-differentiate="function=position mode=vjp parameters=beam_x" %s | FileCheck %s --check-prefix=VJP

// The position of a pixel stays one op beside its derivatives, so that nb-cull can tell where the pixel stands.

// By the angle about the slow axis: the slope of that turn, turned about the fast axis.
// JVP-LABEL: func.func @position_jvp
// JVP-SAME:    %[[T:[a-z0-9_.]+]]: f64 {nb.name = "tangent.angle"}
// JVP:         nb.curved_position
// JVP:         %[[ACROSS:.*]] = nb.cross %slow
// JVP:         %[[COS:.*]] = math.cos %angle
// JVP:         nb.scale %[[ACROSS]], %[[COS]]
// JVP:         %[[TURN:.*]] = nb.axis_rotation %fast
// JVP:         %[[SLOPE:.*]] = nb.transform %[[TURN]]
// JVP:         nb.scale %[[SLOPE]], %[[T]]

// By the beam: the adjoint is turned back, about the fast axis first.
// VJP-LABEL: func.func @position_vjp
// VJP:         nb.curved_position
// VJP:         %[[FAST:.*]] = nb.axis_rotation %fast
// VJP:         nb.transpose %[[FAST]]
// VJP:         %[[SLOW:.*]] = nb.axis_rotation %slow
// VJP:         nb.transpose %[[SLOW]]
func.func @position(%beam_x: f64 {nb.name = "beam_x"}, %fast: !nb.vec3<f64>, %slow: !nb.vec3<f64>,
                    %angle: f64 {nb.name = "angle"}) -> f64 {
  %distance = arith.constant 0.1 : f64
  %about_fast = arith.constant 0.2 : f64
  %zero = arith.constant 0.0 : f64
  %beam = nb.vec %beam_x, %zero, %zero : f64
  %P = nb.curved_position %beam, %fast, %slow, %distance, %angle, %about_fast : !nb.vec3<f64>
  %y = nb.component %P[1] : !nb.vec3<f64>
  return %y : f64
}
