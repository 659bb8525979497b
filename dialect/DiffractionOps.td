// The physics of one sample -------*- tablegen -*.
#ifndef NB_DIFFRACTION_OPS
#define NB_DIFFRACTION_OPS

include "NBTypes.td"

class NB_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::nb";
  let genSpecializedAttr = 0;
}
/// It prints with a blank in front of it, which ops leave out (``) ahead of it and which
/// `#nb<shape square>` needs.
class NB_KeywordAttr<I32EnumAttr enum, string mnemonic> : EnumAttr<NB_Dialect, enum, mnemonic>;

def NB_CellRule : NB_Enum<"CellRule", "how the cell is set into the lab frame",
                          [I32EnumAttrCase<"right", 0>, I32EnumAttrCase<"c", 1>]>;
def NB_CellRuleAttr : NB_KeywordAttr<NB_CellRule, "cell_rule">;
def NB_Shape : NB_Enum<"Shape", "crystal shape", [
    I32EnumAttrCase<"square", 0>, I32EnumAttrCase<"round", 1>, I32EnumAttrCase<"gauss", 2>,
    I32EnumAttrCase<"tophat", 3>, I32EnumAttrCase<"gauss_matrix", 4>]>;
def NB_ShapeAttr : NB_KeywordAttr<NB_Shape, "shape">;
def NB_Interpolation : NB_Enum<"Interpolation", "structure factor between Miller indices",
                               [I32EnumAttrCase<"nearest", 0>, I32EnumAttrCase<"tricubic", 1>]>;
def NB_InterpolationAttr : NB_KeywordAttr<NB_Interpolation, "interpolation">;
def NB_PixelKind : NB_Enum<"PixelKind", "what a pixel's solid angle means",
                           [I32EnumAttrCase<"pixel", 0>, I32EnumAttrCase<"point", 1>]>;
def NB_PixelKindAttr : NB_KeywordAttr<NB_PixelKind, "pixel_kind">;

//===----------------------------------------------------------------------===//
// Crystal
//===----------------------------------------------------------------------===//

class NB_CellOp<string mnemonic, list<Trait> traits>
    : NB_ExpandableOp<
          mnemonic,
          !listconcat([AllTypesMatch<["a", "b", "c", "alpha", "beta", "gamma"]>], traits)> {
  dag cell = (ins NB_Scalar:$a, NB_Scalar:$b, NB_Scalar:$c,
                  NB_Scalar:$alpha, NB_Scalar:$beta, NB_Scalar:$gamma);
}

def NB_CellVolumeOp : NB_CellOp<"cell_volume", [AllTypesMatch<["a", "result"]>]> {
  let summary = "volume of the unit cell";
  let description = [{
    `V = 2 a b c sqrt|sin s sin(s-alpha) sin(s-beta) sin(s-gamma)|`, `s = (alpha+beta+gamma)/2`,
    in m^3 for edges in m and angles in rad.

    Example:
    ```mlir
    %V = nb.cell_volume %a, %b, %c, %al, %be, %ga : f64
    ```
  }];
  let arguments = cell;
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $c `,` $alpha `,` $beta `,` $gamma attr-dict `:` type($a)
  }];
  let hasFolder = 1;
}

def NB_ReciprocalCellOp : NB_CellOp<"reciprocal_cell", [NB_MatOf<"a", "result">]> {
  let summary = "reciprocal basis of a unit cell in its default setting";
  let description = [{
    Columns a*, b*, c* in 1/m, for edges in m and angles in rad: a* along lab X, b* in the X-Y
    plane,
    `a* = (|a*|, 0, 0)`, `b* = |b*| (cos gamma*, sin gamma*, 0)`,
    `c* = |c*| (cos beta*, (cos alpha* - cos beta* cos gamma*) / sin gamma*, z)`.

    `right` takes the z that makes the basis reciprocal to the cell,
    `z = V* / (|a*||b*||c*| sin gamma*)`; `c` takes the C program's `z = V / (a b c sin gamma*)`,
    which distorts the angles of cells with more than one oblique angle.

    Example:
    ```mlir
    %A = nb.reciprocal_cell right %a, %b, %c, %al, %be, %ga : f64
    ```
  }];
  let arguments = !con((ins NB_CellRuleAttr:$rule), cell);
  let results = (outs NB_Mat3:$result);
  let assemblyFormat = [{
    `` $rule $a `,` $b `,` $c `,` $alpha `,` $beta `,` $gamma attr-dict `:` type($a)
  }];
}

def NB_DirectCellOp : NB_ExpandableOp<"direct_cell", [AllTypesMatch<["reciprocal", "result"]>]> {
  let summary = "direct basis of a reciprocal basis";
  let description = [{
    Rows a, b, c in m, from columns a*, b*, c* in 1/m: `a = (b* x c*) / (a* . (b* x c*))`, cyclic.

    With `lengths`, the vectors are scaled to these lengths (m). The C program does this whenever
    -cell is given.

    Constraints:
    * (C1) `lengths` is absent or the three lengths a, b, c, each of the matrix's element type

    Example:
    ```mlir
    %D = nb.direct_cell %A : !nb.mat3<f64>
    %E = nb.direct_cell %A lengths(%a, %b, %c) : !nb.mat3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$reciprocal, Variadic<NB_Scalar>:$lengths);
  let results = (outs NB_Mat3:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

def NB_ScatteringVectorOp : NB_DifferentiableOp<"scattering_vector", [
    AllTypesMatch<["diffracted", "incident", "result"]>,
    NB_ElementOf<"diffracted", "wavelength">]> {
  let summary = "scattering vector q = (d - k) / lambda";
  let description = [{
    In 1/m, from the unit directions of the diffracted and the incident ray and the wavelength in
    m. |q| = 2 sin(theta) / lambda.

    Example:
    ```mlir
    %q = nb.scattering_vector %d, %k, %lambda : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$diffracted, NB_Vec3:$incident, NB_Scalar:$wavelength);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$diffracted `,` $incident `,` $wavelength attr-dict `:` type($diffracted)";
  let rules = [
    NB_Rule<"diffracted", "scale(t, reciprocal(wavelength))", "scale(g, reciprocal(wavelength))">,
    NB_Rule<"incident", "scale(t, neg(reciprocal(wavelength)))",
            "scale(g, neg(reciprocal(wavelength)))">,
    NB_Rule<"wavelength", "scale(result, mul(t, neg(reciprocal(wavelength))))",
            "mul(dot(result, g), neg(reciprocal(wavelength)))">];
}

def NB_WithinResolutionOp : NB_PureOp<"within_resolution", [
    NB_ElementOf<"scattering_vector", "dmin">,
    NB_ConditionOf<"dmin", "result">]> {
  let summary = "is this sample inside the resolution cutoff";
  let description = [{
    False where `dmin > 0`, `stol > 0` and `dmin > 0.5 / stol`, with `stol = |q| / 2`; q in 1/m,
    dmin in m.

    Example:
    ```mlir
    %keep = nb.within_resolution %q, %dmin : !nb.vec3<f64>, i1
    ```
  }];
  let arguments = (ins NB_Vec3:$scattering_vector, NB_Scalar:$dmin);
  let results = (outs NB_Condition:$result);
  let assemblyFormat = [{
    $scattering_vector `,` $dmin attr-dict `:` type($scattering_vector) `,` type($result)
  }];
}

def NB_MillerIndexOp : NB_DifferentiableOp<"miller_index", [
    AllTypesMatch<["scattering_vector", "result"]>, NB_MatOf<"scattering_vector", "direct">]> {
  let summary = "fractional Miller indices (h, k, l) = (a.q, b.q, c.q)";
  let description = [{
    `direct` has a, b, c as rows (m), q is in 1/m.

    Example:
    ```mlir
    %hkl = nb.miller_index %D, %q : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Mat3:$direct, NB_Vec3:$scattering_vector);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$direct `,` $scattering_vector attr-dict `:` type($scattering_vector)";
  let rules = [
    NB_Rule<"direct", "transform(t, scattering_vector)", "outer(g, scattering_vector)">,
    NB_Rule<"scattering_vector", "transform(direct, t)", "transform(transpose(direct), g)">];
}

def NB_NearestMillerIndexOp : NB_PureOp<"nearest_miller_index",
                                         [SameOperandsAndResultType, InactiveOp]> {
  let summary = "the reflection that fractional Miller indices belong to";
  let description = [{
    `ceil(h - 0.5)` for each component: the nearest integer, halves down.

    Example:
    ```mlir
    %h0 = nb.nearest_miller_index %hkl : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$hkl);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$hkl attr-dict `:` type($result)";
}

/// How many times a function is differentiated with respect to one of its arguments.
def NB_Order : ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>;
/// The same, axis by axis.
def NB_Orders : DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0}">;

def NB_SincgOp : NB_DifferentiableOp<"sincg", [SameOperandsAndResultType]> {
  let summary = "grating function sin(pi N x) / sin(pi x) and its derivatives";
  let description = [{
    The amplitude of N unit cells in a row, for `x` in [-1/2, 1/2], the distance from a Bragg
    peak; N at x = 0. It is even in x.

    With `order m`, its m-th derivative with respect to x; with `cells k`, its k-th derivative with
    respect to N; with both, the mixed derivative `d^m/dx^m d^k/dN^k sin(pi N x) / sin(pi x)`,
    continued to x = 0.

    Constraints:
    * (C1) `order` and `cells` are not negative

    Example:
    ```mlir
    %s = nb.sincg %x, %n : f64
    %t = nb.sincg %x, %n order 1 cells 2 : f64
    ```
  }];
  let arguments = (ins NB_Scalar:$x, NB_Scalar:$n, NB_Order:$order, NB_Order:$cells);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $x `,` $n (`order` $order^)? (`cells` $cells^)? attr-dict `:` type($result)
  }];
  let hasFolder = 1;
  let rules = [
    NB_Rule<"x", "mul(t, sincg(op, 1, 0))", "mul(g, sincg(op, 1, 0))">,
    NB_Rule<"n", "mul(t, sincg(op, 0, 1))", "mul(g, sincg(op, 0, 1))">];
}

def NB_GratingOp : NB_DifferentiableOp<"grating", [AllTypesMatch<["delta", "ncells"]>]> {
  let summary = "amplitude of a block of Na x Nb x Nc unit cells and its derivatives";
  let description = [{
    The product over the axes of `sin(pi N x) / sin(pi x)`, where x is a component of `delta`, in
    [-1/2, 1/2], and N one of `ncells`. `delta` is the distance from a Bragg peak. The product has a
    sign; `nb.lattice_factor square` is its magnitude.

    With `order [i, j, k]` each factor is differentiated that many times with respect to its x, with
    `cells [l, m, n]` with respect to its N.

    If the result is f32 and `delta` f64, N times the distance is first reduced to less than a turn
    in f64; the rest is computed in f32 (`nb-set-precision`). So a phase is rounded once, for any N.

    Constraints:
    * (C1) `order` and `cells` have three numbers, none negative
    * (C2) the result has the element type of `delta`, or is f32 in its lanes

    Example:
    ```mlir
    %L = nb.grating %delta, %ncells : !nb.vec3<f64>
    %M = nb.grating %delta, %ncells order [0, 1, 0] cells [0, 0, 2] : !nb.vec3<f64>
    %S = nb.grating %delta, %ncells : !nb.vec3<f64> -> f32
    ```
  }];
  let arguments = (ins NB_Vec3:$delta, NB_Vec3:$ncells, NB_Orders:$order, NB_Orders:$cells);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $delta `,` $ncells (`order` $order^)? (`cells` $cells^)? attr-dict
    `:` custom<ElementOrSingle>(type($delta), type($result))
  }];
  let hasVerifier = 1;
  let rules = [
    NB_Rule<"delta", "dot(gratingGradient(*this, op, false), t)",
            "scale(gratingGradient(*this, op, false), g)">,
    NB_Rule<"ncells", "dot(gratingGradient(*this, op, true), t)",
            "scale(gratingGradient(*this, op, true), g)">];
}

def NB_BallOp : NB_DifferentiableOp<"ball", [SameOperandsAndResultType]> {
  let summary = "transform of a ball, as a function of the squared radius, and its derivatives";
  let description = [{
    `3 j1(sqrt u) / sqrt u = 3 (sin s / s - cos s) / s^2` at `s = sqrt u`, for u >= 0: 1 at u = 0
    and smooth there.

    With `order k` its k-th derivative with respect to u, `3 (-1/2)^k j_(k+1)(s) / s^(k+1)` with the
    spherical Bessel function j.

    Constraints:
    * (C1) `order` is not negative

    Example:
    ```mlir
    %b = nb.ball %u : f64
    %d = nb.ball %u order 1 : f64
    ```
  }];
  let arguments = (ins NB_Scalar:$u, NB_Order:$order);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$u (`order` $order^)? attr-dict `:` type($result)";
  let rules = [
    NB_Rule<"u", "mul(t, ballSlope(op))", "mul(g, ballSlope(op))">];
}

def NB_LatticeFactorOp : NB_ExpandableOp<"lattice_factor", [
    AllTypesMatch<["hkl", "ncells"]>, AttrSizedOperandSegments]> {
  let summary = "amplitude of the lattice transform at fractional Miller indices";
  let description = [{
    With `delta = hkl - nearest(hkl)` and the numbers of cells `ncells` = (Na, Nb, Nc):
    * `square`: product over the axes of `|sin(pi N delta) / sin(pi delta)|`. For whole N, hkl in
      place of delta gives the same;
    * `round`: `Na Nb Nc sqrt(pi/6) sinc3(pi sqrt(r2 fudge))`,
      `sinc3(x) = 3 (sin x / x - cos x) / x^2`;
    * `gauss`: `Na Nb Nc exp(-r2 fudge / 0.63)`;
    * `tophat`: `Na Nb Nc` where `r2 fudge < 0.63^2`, otherwise 0;
    * `gauss_matrix`: `det(N) exp(-|N delta|^2 fudge / 0.63)` with the symmetric matrix
      `N = [[Na, D, F], [D, Nb, E], [F, E, Nc]]` and `cross` = (D, E, F): a spot whose axes are not
      those of the lattice (diffBragg, Mendez et al., IUCrJ 7 (2020) 1151),

    where `r2 = sum (delta N)^2`. With `reciprocal` (columns a*, b*, c* in 1/m; gauss and tophat
    only) r2 is instead the C program's `|delta_h a* + delta_k b* + delta_l c*|^2 (Na Nb Nc)^2`
    with lengths in 1/Angstrom.

    With `fraction` the operand is delta instead of the whole index (`nb-peel-miller-index`).

    Constraints:
    * (C1) `fudge` is present exactly when the shape is not `square`
    * (C2) `reciprocal` is present only for `gauss` and `tophat`
    * (C3) `fudge`, `reciprocal` and `cross` have the element type of `hkl`
    * (C4) the result has the element type of `hkl`, or is f32 in its lanes
    * (C5) `cross` is present exactly when the shape is `gauss_matrix`

    If the result is f32 and `hkl` f64, the fractions of the whole index, and of N times it, are
    first taken exactly, in fixed point. The rest is computed in f32 (`nb-set-precision`).

    Example:
    ```mlir
    %L = nb.lattice_factor square %hkl, %ncells : !nb.vec3<f64>
    %S = nb.lattice_factor square %hkl, %ncells : !nb.vec3<f64> -> f32
    %M = nb.lattice_factor gauss %hkl, %ncells fudge %x : !nb.vec3<f64>
    %G = nb.lattice_factor gauss_matrix %hkl, %ncells cross %def fudge %x : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_ShapeAttr:$shape, NB_Vec3:$hkl, NB_Vec3:$ncells,
                       Optional<NB_Scalar>:$fudge, Optional<NB_Mat3>:$reciprocal,
                       Optional<NB_Vec3>:$cross, UnitAttr:$fraction);
  let results = (outs NB_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def NB_InGridOp : NB_PureOp<"in_grid", []> {
  let summary = "is a Miller index inside a grid";
  let description = [{
    `nearest`: the nearest reflection is inside the bounds. `tricubic`: h_min + 2 <= h <= h_max - 2
    for the fractional h, same for k and l, so that all 64 neighbours exist.

    With `integral`, `hkl` holds nearest indices already.

    Constraints:
    * (C1) the result has the lanes of `hkl`
    * (C2) `integral` only with `nearest`

    Example:
    ```mlir
    %in = nb.in_grid nearest %F[%hkl] : !nb.hkl_grid<f64>, !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_InterpolationAttr:$interpolation, NB_HklGrid:$grid, NB_Vec3:$hkl,
                       UnitAttr:$integral);
  let results = (outs NB_Condition:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def NB_StructureFactorOp : NB_DifferentiableOp<"structure_factor", []> {
  let summary = "structure factor at fractional Miller indices";
  let description = [{
    In electrons. `nearest`: the value of the nearest reflection, `default` outside the grid.
    `tricubic`: 4-point Lagrange interpolation over 4 x 4 x 4 reflections; where those are not all
    inside the grid, the rule of `nearest`.

    With `default` the op is a masked load, not a branch: pixels outside the grid read nothing.
    Without `default` the index is clamped into the range that `nb.in_grid` accepts, so the result
    is always a value of the grid. Derivatives of the interpolation are ops without `default`. With
    `integral`, `hkl` holds nearest indices already.

    With `order [i, j, k]` the interpolation is differentiated that many times with respect to h, k
    and l: the derivatives of the cubic Lagrange weights. Where the index is clamped, this is the
    derivative at the edge of the range.

    Constraints:
    * (C1) the result is of the element type of `hkl`, or of f32 with the same lanes; `default` is of
      the result's type
    * (C2) `integral` only with `nearest`
    * (C3) `order` has three numbers from 0 to 3; other than 0 only with `tricubic` and without
      `default`

    Example:
    ```mlir
    %f = nb.structure_factor nearest %F[%hkl] default %F0 : !nb.hkl_grid<f64>, !nb.vec3<f64>
    %g = nb.structure_factor tricubic %F[%hkl] order [1, 0, 0] : !nb.hkl_grid<f64>, !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_InterpolationAttr:$interpolation, NB_HklGrid:$grid, NB_Vec3:$hkl,
                       Optional<NB_Scalar>:$default_value, UnitAttr:$integral, NB_Orders:$order);
  let results = (outs NB_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let rules = [
    NB_Rule<"grid", "factorOfGrid(*this, op, t)", "gridOfFactor(*this, op, g)">,
    NB_Rule<"hkl", "factorOfIndex(*this, op, t)", "indexOfFactor(*this, op, g)">,
    NB_Rule<"default_value", "whereDefault(*this, op, t)", "whereDefault(*this, op, g)">];
}

def NB_ScatterFactorOp : NB_DifferentiableOp<"scatter_factor"> {
  let summary = "a grid that is 0 except where a structure factor is read";
  let description = [{
    A grid with the bounds of `like` that is 0 except at the reflections that `nb.structure_factor`
    (without default, of the same interpolation and order) reads for `hkl`. There it holds `value`
    times the weight of the reflection: with `nearest` the value itself at one reflection, with
    `tricubic` 64 products. A sum of such grids is the adjoint of `nb.structure_factor` with respect
    to its grid. With lanes, the values of all lanes are added. The values of `like` do not matter.

    Constraints:
    * (C1) `value` has the element type of `hkl`; the result has the type of `like`
    * (C2) `integral` only with `nearest`
    * (C3) `order` has three numbers from 0 to 3; other than 0 only with `tricubic`
    * (C4) the result is used only by the nb.yield of an nb.sum or nb.image, or by an nb.add whose
      result is used in the same way

    Example:
    ```mlir
    %t = nb.sum mosaic %i in %n : !nb.hkl_grid<f64> {
      %e = nb.scatter_factor nearest %v at [%hkl] like %F : !nb.hkl_grid<f64>, !nb.vec3<f64>
      nb.yield %e : !nb.hkl_grid<f64>
    }
    ```
  }];
  let arguments = (ins NB_InterpolationAttr:$interpolation, NB_Scalar:$value, NB_Vec3:$hkl,
                       NB_HklGrid:$like, UnitAttr:$integral, NB_Orders:$order);
  let results = (outs NB_HklGrid:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let rules = [
    NB_Rule<"value", "scatterLike(op, t)", "readBack(*this, op, g, op.getOrder())">,
    NB_Rule<"hkl", "scatterTangent(*this, op, t)", "scatterGradient(*this, op, g)">,
    NB_Rule<"like", "nullptr", "nullptr">];
}

def NB_IntensityOp : NB_ExpandableOp<"intensity", [SameOperandsAndResultType]> {
  let summary = "scattered intensity F^2 L^2";
  let description = [{
    The square of structure factor times lattice factor, in electrons^2.

    Example:
    ```mlir
    %I = nb.intensity %F, %L : f64
    ```
  }];
  let arguments = (ins NB_Scalar:$structure_factor, NB_Scalar:$lattice_factor);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$structure_factor `,` $lattice_factor attr-dict `:` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Corrections
//===----------------------------------------------------------------------===//

def NB_PolarizationOp : NB_ExpandableOp<"polarization", [
    AllTypesMatch<["axis", "incident", "diffracted"]>, NB_ElementOf<"axis", "kahn_factor">,
    NB_ElementOf<"axis", "result">]> {
  let summary = "polarization factor";
  let description = [{
    `(1 + c2 - K cos(2 psi) (1 - c2)) / 2` with `c2 = (incident . diffracted)^2`, the Kahn factor K,
    and psi the azimuth of the diffracted ray about the incident one, `psi = -atan2(d . B, d . E)`,
    `B = unit(axis x incident)`, `E = unit(incident x B)`; psi = 0 if the diffracted ray or `axis`
    is along the beam. K = 1 is full polarization along `axis`. `incident` and `diffracted` are unit
    vectors.

    Example:
    ```mlir
    %p = nb.polarization %K, %axis, %k, %d : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Scalar:$kahn_factor, NB_Vec3:$axis, NB_Vec3:$incident,
                       NB_Vec3:$diffracted);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $kahn_factor `,` $axis `,` $incident `,` $diffracted attr-dict `:` type($axis)
  }];
}

def NB_SolidAngleOp : NB_ExpandableOp<"solid_angle", [
    NB_ElementOf<"position", "close_distance">, NB_ElementOf<"position", "pixel_size">,
    NB_ElementOf<"position", "result">]> {
  let summary = "solid angle of a pixel, in steradian";
  let description = [{
    `pixel`: `pixel_size^2 / R^2 * close_distance / R`, R the distance to the sample: the area of
    the pixel seen at its obliquity. `point`: `1 / R^2`, in 1/m^2, without area or obliquity.

    Example:
    ```mlir
    %w = nb.solid_angle pixel %P, %close, %size : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_PixelKindAttr:$kind, NB_Vec3:$position, NB_Scalar:$close_distance,
                       NB_Scalar:$pixel_size);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    `` $kind $position `,` $close_distance `,` $pixel_size attr-dict `:` type($position)
  }];
}

def NB_CaptureFractionOp : NB_ExpandableOp<"capture_fraction", [
    AllTypesMatch<["diffracted", "normal"]>, NB_ElementOf<"normal", "layer">,
    NB_ElementOf<"normal", "spacing">, NB_ElementOf<"normal", "attenuation_depth">,
    NB_ElementOf<"normal", "result">]> {
  let summary = "fraction of the photons that one sensor layer absorbs";
  let description = [{
    `exp(-t dz mu / rho) - exp(-(t + 1) dz mu / rho)` for layer number t, with the spacing dz (m),
    `mu = 1 / attenuation_depth` (1/m) and `rho = d . normal`, the cosine of incidence.

    For a ray along the surface, |rho| < 1e-100, the first layer absorbs everything and the others
    nothing: rho is then taken as 1e-100. For a ray from behind, exponents are at most 300.

    Example:
    ```mlir
    %c = nb.capture_fraction %d, %o, %t, %dz, %depth : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$diffracted, NB_Vec3:$normal, NB_Scalar:$layer, NB_Scalar:$spacing,
                       NB_Scalar:$attenuation_depth);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $diffracted `,` $normal `,` $layer `,` $spacing `,` $attenuation_depth attr-dict
    `:` type($normal)
  }];
}

def NB_WaterBackgroundOp : NB_ExpandableOp<"water_background", [SameOperandsAndResultType]> {
  let summary = "photons per steradian scattered by a cube of water";
  let description = [{
    `2.57^2 r_e^2 fluence size^3 1e6 Avogadro / 18` for the edge in m and the fluence in
    photons/m^2: forward scattering of the molecules, 2.57 electrons rms each.

    Example:
    ```mlir
    %w = nb.water_background %size, %fluence : f64
    ```
  }];
  let arguments = (ins NB_Scalar:$size, NB_Scalar:$fluence);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = "$size `,` $fluence attr-dict `:` type($result)";
  let hasFolder = 1;
}

#endif
