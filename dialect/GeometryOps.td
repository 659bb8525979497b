// Vectors, rotations, detector -------*- tablegen -*.
#ifndef NB_GEOMETRY_OPS
#define NB_GEOMETRY_OPS

include "NBTypes.td"

//===----------------------------------------------------------------------===//
// Building and taking apart
//===----------------------------------------------------------------------===//

def NB_VecOp : NB_DifferentiableOp<"vec", [AllTypesMatch<["x", "y", "z"]>,
                                           NB_VecOf<"x", "result">]> {
  let summary = "a vector from its components";
  let description = [{
    (x, y, z) in the lab frame.

    Constraints:
    * (C1) the three components have one type

    Example:
    ```mlir
    %v = nb.vec %x, %y, %z : f64
    ```
  }];
  let arguments = (ins NB_Scalar:$x, NB_Scalar:$y, NB_Scalar:$z);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict `:` type($x)";
  let rules = [
    NB_Rule<"x", "vecWith(t, 0)", "component(g, 0)">,
    NB_Rule<"y", "vecWith(t, 1)", "component(g, 1)">,
    NB_Rule<"z", "vecWith(t, 2)", "component(g, 2)">];
}

def NB_ComponentOp : NB_DifferentiableOp<"component", [NB_ElementOf<"vector", "result">]> {
  let summary = "one component of a vector";
  let description = [{
    Component 0 (x), 1 (y) or 2 (z).

    Constraints:
    * (C1) 0 <= index < 3

    Example:
    ```mlir
    %y = nb.component %v[1] : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$vector,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>:$index);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$vector `[` $index `]` attr-dict `:` type($vector)";
  let hasFolder = 1;
  let rules = [
    NB_Rule<"vector", "component(t, op.getIndex())", "vecWith(g, op.getIndex())">];
}

def NB_MatOp : NB_DifferentiableOp<"mat", [SameTypeOperands]> {
  let summary = "a matrix from its nine elements, row by row";
  let description = [{
    Constraints:
    * (C1) nine elements of one type, which is that of the result's elements

    Example:
    ```mlir
    %m = nb.mat %a, %b, %c, %d, %e, %f, %g, %h, %i : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins Variadic<NB_Scalar>:$elements);
  let results = (outs NB_Mat3:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let rules = [
    NB_Rule<"element", "matWith(t, operand)", "RuleBuilder::element(g, operand / 3, operand % 3)">];
}

def NB_ElementOp : NB_DifferentiableOp<"element", [NB_ElementOf<"matrix", "result">]> {
  let summary = "one element of a matrix";
  let description = [{
    Row and column count from 0.

    Constraints:
    * (C1) 0 <= row < 3 and 0 <= column < 3

    Example:
    ```mlir
    %e = nb.element %m[0, 2] : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$matrix,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>:$row,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>:$column);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$matrix `[` $row `,` $column `]` attr-dict `:` type($matrix)";
  let hasFolder = 1;
  let rules = [
    NB_Rule<"matrix", "element(t, op.getRow(), op.getColumn())",
            "matWith(g, 3 * op.getRow() + op.getColumn())">];
}

def NB_RowOp : NB_DifferentiableOp<"row", [NB_VecOf<"matrix", "result">]> {
  let summary = "one row of a matrix";
  let description = [{
    Constraints:
    * (C1) 0 <= index < 3

    Example:
    ```mlir
    %a = nb.row %direct[0] : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$matrix,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>:$index);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$matrix `[` $index `]` attr-dict `:` type($matrix)";
  let rules = [
    NB_Rule<"matrix", "row(t, op.getIndex())", "outer(axis(op.getIndex(), g), g)">];
}

def NB_SplatOp : NB_PureOp<"splat"> {
  let summary = "the same vector or matrix in every lane";
  let description = [{
    Constraints:
    * (C1) a scalar-element vec3 or mat3 becomes the same kind over lanes of that element

    Example:
    ```mlir
    %w = nb.splat %v : !nb.vec3<f64> to !nb.vec3<vector<8xf64>>
    ```
  }];
  let arguments = (ins AnyTypeOf<[NB_Vec3, NB_Mat3]>:$value);
  let results = (outs AnyTypeOf<[NB_Vec3, NB_Mat3]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

def NB_VectorOrMatrix : AnyTypeOf<[NB_Vec3, NB_Mat3], "!nb.vec3 or !nb.mat3">;
def NB_Addend : AnyTypeOf<[NB_Vec3, NB_Mat3, NB_Table, NB_HklGrid],
                          "!nb.vec3, !nb.mat3, !nb.table or !nb.hkl_grid">;

class NB_BinaryOp<string mnemonic, TypeConstraint type, list<Trait> traits = []>
    : NB_DifferentiableOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def NB_AddOp : NB_BinaryOp<"add", NB_Addend, [Commutative]> {
  let summary = "sum of two vectors, matrices, tables or grids";
  let description = [{
    Element by element. A sum of tables or grids can only be a term of an `nb.sum` or `nb.image`.

    Constraints:
    * (C1) a result that is a table or grid is used only by the nb.yield of an nb.sum or nb.image,
      or by an nb.add whose result is used in the same way

    Example:
    ```mlir
    %c = nb.add %a, %b : !nb.vec3<f64>
    ```
  }];
  let rules = [
    NB_Rule<"lhs", "t", "g">,
    NB_Rule<"rhs", "t", "g">];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}
def NB_SubOp : NB_BinaryOp<"sub", NB_VectorOrMatrix> {
  let summary = "difference of two vectors or matrices";
  let description = [{
    Example:
    ```mlir
    %c = nb.sub %a, %b : !nb.vec3<f64>
    ```
  }];
  let rules = [
    NB_Rule<"lhs", "t", "g">,
    NB_Rule<"rhs", "neg(t)", "neg(g)">];
}
def NB_CrossOp : NB_BinaryOp<"cross", NB_Vec3> {
  let summary = "vector product lhs x rhs";
  let description = [{
    Example:
    ```mlir
    %c = nb.cross %a, %b : !nb.vec3<f64>
    ```
  }];
  let rules = [
    NB_Rule<"lhs", "cross(t, rhs)", "cross(rhs, g)">,
    NB_Rule<"rhs", "cross(lhs, t)", "cross(g, lhs)">];
}

def NB_ScaleOp : NB_DifferentiableOp<"scale", [AllTypesMatch<["vector", "result"]>,
                                     NB_ElementOf<"vector", "factor">]> {
  let summary = "a vector or matrix times a number";
  let description = [{
    Example:
    ```mlir
    %c = nb.scale %v, %s : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_VectorOrMatrix:$vector, NB_Scalar:$factor);
  let results = (outs NB_VectorOrMatrix:$result);
  let assemblyFormat = "$vector `,` $factor attr-dict `:` type($vector)";
  let hasFolder = 1;
  let rules = [
    NB_Rule<"vector", "scale(t, factor)", "scale(g, factor)">,
    NB_Rule<"factor", "scale(vector, t)", "inner(vector, g)">];
}

def NB_DotOp : NB_DifferentiableOp<"dot", [Commutative, AllTypesMatch<["lhs", "rhs"]>,
                                 NB_ElementOf<"lhs", "result">]> {
  let summary = "scalar product";
  let description = [{
    Example:
    ```mlir
    %x = nb.dot %a, %b : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$lhs, NB_Vec3:$rhs);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let rules = [
    NB_Rule<"lhs", "dot(t, rhs)", "scale(rhs, g)">,
    NB_Rule<"rhs", "dot(lhs, t)", "scale(lhs, g)">];
}

def NB_NormOp : NB_DifferentiableOp<"norm", [NB_ElementOf<"vector", "result">]> {
  let summary = "length of a vector";
  let description = [{
    Example:
    ```mlir
    %r = nb.norm %v : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$vector);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$vector attr-dict `:` type($vector)";
  let rules = [
    NB_Rule<"vector", "dot(normalize(vector), t)", "scale(normalize(vector), g)">];
}

def NB_NormalizeOp : NB_DifferentiableOp<"normalize", [SameOperandsAndResultType]> {
  let summary = "unit vector along a vector";
  let description = [{
    v / |v|. The zero vector has no direction and is returned as it is.

    Example:
    ```mlir
    %d = nb.normalize %v : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$vector);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$vector attr-dict `:` type($result)";
  let rules = [
    NB_Rule<"vector", "acrossOverLength(t, vector, result)",
            "acrossOverLength(g, vector, result)">];
}

def NB_TransformOp : NB_DifferentiableOp<"transform", [AllTypesMatch<["vector", "result"]>,
                                             NB_MatOf<"vector", "matrix">]> {
  let summary = "matrix times column vector";
  let description = [{
    Example:
    ```mlir
    %w = nb.transform %m, %v : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$matrix, NB_Vec3:$vector);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$matrix `,` $vector attr-dict `:` type($vector)";
  let hasCanonicalizeMethod = 1;
  let rules = [
    NB_Rule<"matrix", "transform(t, vector)", "outer(g, vector)">,
    NB_Rule<"vector", "transform(matrix, t)", "transform(transpose(matrix), g)">];
}

def NB_MultiplyOp : NB_DifferentiableOp<"multiply", [SameOperandsAndResultType]> {
  let summary = "product of two matrices";
  let description = [{
    `lhs * rhs`: as rotations of column vectors, rhs acts first.

    Example:
    ```mlir
    %m = nb.multiply %a, %b : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$lhs, NB_Mat3:$rhs);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasCanonicalizeMethod = 1;
  let rules = [
    NB_Rule<"lhs", "multiply(t, rhs)", "multiply(g, transpose(rhs))">,
    NB_Rule<"rhs", "multiply(lhs, t)", "multiply(transpose(lhs), g)">];
}

def NB_TransposeOp : NB_DifferentiableOp<"transpose", [SameOperandsAndResultType, Involution]> {
  let summary = "transposed matrix";
  let description = [{
    The inverse, for a rotation.

    Example:
    ```mlir
    %t = nb.transpose %m : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$matrix);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = "$matrix attr-dict `:` type($result)";
  let hasCanonicalizeMethod = 1;
  let rules = [
    NB_Rule<"matrix", "transpose(t)", "transpose(g)">];
}

def NB_OuterOp : NB_DifferentiableOp<"outer", [AllTypesMatch<["lhs", "rhs"]>,
                                               NB_MatOf<"lhs", "result">]> {
  let summary = "outer product of two vectors";
  let description = [{
    The matrix of rank one `lhs rhs^T`, element [i, j] = lhs_i rhs_j.

    Example:
    ```mlir
    %m = nb.outer %u, %v : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$lhs, NB_Vec3:$rhs);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let rules = [
    NB_Rule<"lhs", "outer(t, rhs)", "transform(g, rhs)">,
    NB_Rule<"rhs", "outer(lhs, t)", "transform(transpose(g), lhs)">];
}

def NB_FrobeniusOp : NB_DifferentiableOp<"frobenius", [Commutative, AllTypesMatch<["lhs", "rhs"]>,
                                             NB_ElementOf<"lhs", "result">]> {
  let summary = "scalar product of two matrices";
  let description = [{
    The sum over i, j of `lhs[i, j] rhs[i, j]`.

    Example:
    ```mlir
    %x = nb.frobenius %a, %b : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$lhs, NB_Mat3:$rhs);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasCanonicalizeMethod = 1;
  let rules = [
    NB_Rule<"lhs", "inner(t, rhs)", "scale(rhs, g)">,
    NB_Rule<"rhs", "inner(lhs, t)", "scale(lhs, g)">];
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

def NB_AxisRotationOp : NB_ExpandableOp<"axis_rotation", [NB_ElementOf<"axis", "angle">,
                                                    NB_MatOf<"axis", "result">]> {
  let summary = "rotation about an axis";
  let description = [{
    The right-handed rotation by `angle` (rad) about `axis` n, by Rodrigues' formula
    `x -> n (n.x) (1 - cos) + x cos + (n cross x) sin`. The axis is used as it is, not normalised;
    at angle 0 the result is the identity for any axis of finite length.

    Example:
    ```mlir
    %m = nb.axis_rotation %spindle, %phi : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$axis, NB_Scalar:$angle);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = "$axis `,` $angle attr-dict `:` type($axis)";
}

def NB_VectorRotationOp : NB_ExpandableOp<"vector_rotation", [NB_MatOf<"rotation", "result">]> {
  let summary = "rotation by a rotation vector";
  let description = [{
    The right-handed rotation about the direction of `rotation` w by its length t = |w| (rad),
    `x -> x + sin(t)/t w cross x + (1 - cos(t))/t^2 w cross (w cross x)`; the identity for w = 0, where it
    is smooth, too.

    Example:
    ```mlir
    %m = nb.vector_rotation %w : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$rotation);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = "$rotation attr-dict `:` type($rotation)";
}

def NB_TurnOp : NB_DifferentiableOp<"turn", [
    DeclareOpInterfaceMethods<ExpandableOp>, AllTypesMatch<["gibbs", "vector", "result"]>]> {
  let summary = "a vector turned by a rotation with a Gibbs vector";
  let description = [{
    The vector x, turned about the direction of g by the angle 2 atan |g|:
    `x + 2/(1 + g.g) (g cross x + g cross (g cross x))`. For small rotations g is half of the
    rotation vector. The formula contains no sines or roots, and is smooth everywhere.

    Example:
    ```mlir
    %y = nb.turn %x by %g : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$vector, NB_Vec3:$gibbs);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$vector `by` $gibbs attr-dict `:` type($vector)";
  let rules = [
    NB_Rule<"vector", "turn(t, gibbs)", "turn(g, neg(gibbs))">,
    NB_Rule<"gibbs", "cross(turnRate(gibbs, t), result)",
            "turnRate(neg(gibbs), cross(result, g))">];
}

def NB_EulerRotationOp : NB_ExpandableOp<"euler_rotation", [AllTypesMatch<["x", "y", "z"]>,
                                                      NB_MatOf<"x", "result">]> {
  let summary = "rotation about lab X, then lab Y, then lab Z";
  let description = [{
    Rz(z) Ry(y) Rx(x): three right-handed rotations about the fixed lab axes, angles in rad, as
    `-misset` and `-detector_rotx/y/z` mean them.

    Example:
    ```mlir
    %m = nb.euler_rotation %x, %y, %z : f64
    ```
  }];
  let arguments = (ins NB_Scalar:$x, NB_Scalar:$y, NB_Scalar:$z);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict `:` type($x)";
}

//===----------------------------------------------------------------------===//
// Detector
//===----------------------------------------------------------------------===//

def NB_DetectorCoordinateOp : NB_DifferentiableOp<"detector_coordinate", [
    AllTypesMatch<["pixel", "sub_pixel", "oversample"]>,
    AllTypesMatch<["pixel_size", "result"]>]> {
  let summary = "distance of a sub-pixel's centre from the detector's edge, along one axis";
  let description = [{
    `sub = pixel_size / oversample; sub * (pixel * oversample + sub_pixel) + sub / 2`, in m.

    Constraints:
    * (C1) index operands have the lanes of the result

    Example:
    ```mlir
    %F = nb.detector_coordinate %fast, %subfast, %n, %size : index, f64
    ```
  }];
  let arguments = (ins NB_IndexLike:$pixel, NB_IndexLike:$sub_pixel, NB_IndexLike:$oversample,
                       NB_Scalar:$pixel_size);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $pixel `,` $sub_pixel `,` $oversample `,` $pixel_size attr-dict
    `:` type($pixel) `,` type($result)
  }];
  let hasVerifier = 1;
  let rules = [
    NB_Rule<"pixel", "nullptr", "nullptr">,
    NB_Rule<"sub_pixel", "nullptr", "nullptr">,
    NB_Rule<"oversample", "nullptr", "nullptr">,
    NB_Rule<"pixel_size", "coordinateOf(op, t)", "coordinateOf(op, g)">];
}

def NB_PixelPositionOp : NB_DifferentiableOp<"pixel_position", [
    AllTypesMatch<["origin", "fast_axis", "slow_axis", "normal", "result"]>,
    NB_ElementOf<"origin", "fast">, NB_ElementOf<"origin", "slow">,
    NB_ElementOf<"origin", "depth">]> {
  let summary = "lab position of a point of the detector";
  let description = [{
    `origin + fast * fast_axis + slow * slow_axis + depth * normal`, all in m: a flat sensor, with
    `depth` counted from its front face along the normal.

    Example:
    ```mlir
    %P = nb.pixel_position %pix0, %f, %s, %o at %F, %S, %O : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$origin, NB_Vec3:$fast_axis, NB_Vec3:$slow_axis, NB_Vec3:$normal,
                       NB_Scalar:$fast, NB_Scalar:$slow, NB_Scalar:$depth);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = [{
    $origin `,` $fast_axis `,` $slow_axis `,` $normal `at` $fast `,` $slow `,` $depth attr-dict
    `:` type($origin)
  }];
  let rules = [
    NB_Rule<"origin", "t", "g">,
    NB_Rule<"fast_axis", "scale(t, fast)", "scale(g, fast)">,
    NB_Rule<"slow_axis", "scale(t, slow)", "scale(g, slow)">,
    NB_Rule<"normal", "scaleUnlessZero(t, depth)", "scaleUnlessZero(g, depth)">,
    NB_Rule<"fast", "scale(fast_axis, t)", "dot(fast_axis, g)">,
    NB_Rule<"slow", "scale(slow_axis, t)", "dot(slow_axis, g)">,
    NB_Rule<"depth", "scale(normal, t)", "dot(normal, g)">];
}

def NB_CurvedPositionOp : NB_DifferentiableOp<"curved_position", [
    DeclareOpInterfaceMethods<ExpandableOp>,
    AllTypesMatch<["beam", "fast_axis", "slow_axis", "result"]>,
    NB_ElementOf<"beam", "distance">, NB_ElementOf<"beam", "about_slow">,
    NB_ElementOf<"beam", "about_fast">]> {
  let summary = "lab position of a point of a spherical detector";
  let description = [{
    The point `distance * beam` turned about `slow_axis` by the angle `about_slow`, then about
    `fast_axis` by `about_fast` (rad): every pixel is at `distance` (m) from the sample.

    Example:
    ```mlir
    %P = nb.curved_position %b, %f, %s, %distance, %ts, %tf : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$beam, NB_Vec3:$fast_axis, NB_Vec3:$slow_axis, NB_Scalar:$distance,
                       NB_Scalar:$about_slow, NB_Scalar:$about_fast);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = [{
    $beam `,` $fast_axis `,` $slow_axis `,` $distance `,` $about_slow `,` $about_fast attr-dict
    `:` type($beam)
  }];
  let rules = [
    NB_Rule<"beam", "curvedTangent(*this, op, 0, t)", "curvedAdjoint(*this, op, 0, g)">,
    NB_Rule<"fast_axis", "curvedTangent(*this, op, 1, t)", "curvedAdjoint(*this, op, 1, g)">,
    NB_Rule<"slow_axis", "curvedTangent(*this, op, 2, t)", "curvedAdjoint(*this, op, 2, g)">,
    NB_Rule<"distance", "curvedTangent(*this, op, 3, t)", "curvedAdjoint(*this, op, 3, g)">,
    NB_Rule<"about_slow", "curvedTangent(*this, op, 4, t)", "curvedAdjoint(*this, op, 4, g)">,
    NB_Rule<"about_fast", "curvedTangent(*this, op, 5, t)", "curvedAdjoint(*this, op, 5, g)">];
}

#endif
