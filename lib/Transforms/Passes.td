// Nb to nb passes --------------------------*- tablegen -*.
#ifndef NB_TRANSFORMS_PASSES
#define NB_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def EraseProbes : Pass<"nb-erase-probes"> {
  let summary = "erase nb.probe ops";
  let description = [{
    Kernels have no probes; only the interpreter evaluates them. A remark gives the number of probes
    that were erased in a function.

    Example: `nb-opt --nb-erase-probes experiment.mlir`
  }];
  let statistics = [
    Statistic<"erased", "erased", "probes that were erased">
  ];
}

def InsertProbes : Pass<"nb-insert-probes"> {
  let summary = "probe values inside images";
  let description = [{
    Adds an `nb.probe` for each result of an op inside `nb.image` (with `outside`, anywhere) that is
    a float scalar, an index, a condition or a vector. `ops` selects ops by their name
    (`nb.lattice_factor`), `names` by the name of the result; both are lists of patterns in which
    `*` stands for any text. With both, an op must match one pattern of each; with neither, or with
    `all`, every op is probed. Constants, and values that have a probe already, are not probed. A
    probe has the name of its value, or of the op if the value has none.

    Remarks give the number of probes in a function, and patterns that matched nothing.

    Example: `nb-opt --nb-insert-probes="ops=nb.lattice_factor names=F_*" experiment.mlir`
  }];
  let options = [
    ListOption<"ops", "ops", "std::string", "patterns for the names of ops to probe">,
    ListOption<"names", "names", "std::string", "patterns for the names of values to probe">,
    Option<"all", "all", "bool", "false", "probe every op, whatever the patterns say">,
    Option<"outside", "outside", "bool", "false", "probe values outside images too">
  ];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"inserted", "inserted", "probes that were inserted">
  ];
}

def FixCounts : Pass<"nb-fix-counts", "::mlir::ModuleOp"> {
  let summary = "compile counts in";
  let description = [{
    Replaces the arguments that `counts` names (by `nb.name`; an index or f64) by constants. Loops
    of one step disappear, and the lattice factor for a known number of cells becomes a polynomial.
    The arguments stay in the signature with the count as `nb.fixed`. The kernel then refuses any
    other count, and nb-differentiate refuses to differentiate with respect to such an argument.

    `nb-sim --print-pipeline` prints it as the first pass. A count that no function has is an error.

    Example: `nb-opt --nb-fix-counts="counts=oversample=1,ncells_a=10" experiment.mlir`
  }];
  let options = [
    ListOption<"counts", "counts", "std::string", "counts and their values, oversample=1">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"fixed", "fixed", "counts that were compiled in">
  ];
}

def ApplyPatterns : Pass<"nb-apply-patterns", "::mlir::ModuleOp"> {
  let summary = "apply rewrites that are written in PDLL or PDL, and schedules";
  let description = [{
    Applies the patterns of `files` to the whole program until none matches. A `.pdll` file is PDLL,
    which may use ops of the dialect by name; a `.mlir` file contains `pdl.pattern` ops. Neither may
    contain constraints or rewrites in C++.

    A `.mlir` file with a `transform.named_sequence @__transform_main` is a schedule, which is run
    once. Its ops ([schedule.md](schedule.md)) transform selected sums, tables and images, or run
    whole passes (`transform.apply_registered_pass`). It must not contain open choices
    (`transform.tune.knob`, `transform.tune.alternatives`), which `nb-try --tune` replaces by its
    results.

    Remarks give the number of ops of each kind that were added and removed, or state that no
    pattern matched.

    Example: `nb-opt --nb-apply-patterns=files=docs/examples/patterns/reciprocal.pdll experiment.mlir`
  }];
  let options = [
    ListOption<"files", "files", "std::string", "files of patterns">,
    Option<"text", "text", "std::string", "\"\"",
           "text of patterns or of a schedule, instead of a file; `nb-try --tune` sets it">
  ];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::pdl::PDLDialect",
                           "::mlir::pdl_interp::PDLInterpDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::transform::TransformDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"gained", "ops-gained", "ops that patterns and schedules added">,
    Statistic<"lost", "ops-lost", "ops that they removed">
  ];
}

def FuseResponse : Pass<"nb-fuse-response"> {
  let summary = "write stages after an image into its body";
  let description = [{
    A stage that computes each pixel from the same pixel of the image before it (`nb.gain`,
    `nb.gain_map`) becomes part of the body of that `nb.image`: one sweep over the pixels, without
    an image in between. If the image before the stage has other uses, both images are computed in
    that sweep. Later passes treat the ops of the stage like all others of the body.

    Remarks name the stages that were fused and those that were not, with the reason: the function
    does not compute the image, or the stage needs a value that is computed after the image.

    Example: `nb-opt --nb-fuse-response experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"fused", "fused", "stages that became part of an image">
  ];
}

def SplitResponse : Pass<"nb-split-response"> {
  let summary = "leave point spread, and the stages after it, to the program's caller";
  let description = [{
    A kernel computes each pixel by itself, but a pixel after `nb.point_spread` depends on others.
    So the op and all stages after it are removed. The function returns the image before the point
    spread, in that image's precision, and the runtime applies the rest
    (`docs/rationale/detector-response.md`). If anything but stages and the return uses the spread
    image, the op stays, and lowering it is an error.

    A remark marks the place where a program was split.

    Example: `nb-opt --nb-split-response experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"split", "split", "programs whose point spread was left to the caller">
  ];
}

def PeelMillerIndex : Pass<"nb-peel-miller-index"> {
  let summary = "evaluate lattice factors at the fraction of the Miller index";
  let description = [{
    Splits a fractional Miller index into its nearest reflection and the exact remainder, `delta =
    hkl - nearest(hkl)`, computed once. `nb.lattice_factor` then takes `fraction delta`; nearest
    lookups and bounds checks take the `integral` reflection. The subtraction is exact in floating
    point, and arguments of trigonometric functions stay small.

    Lattice factors in f32 of an index in f64 do not change: they take the whole index and compute
    its fraction in fixed point (`nb-set-precision`, which runs before). Lattice factors that take a
    fraction already do not change either. A remark names what was peeled.

    Example: `nb-opt --nb-peel-miller-index experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"peeled", "peeled", "Miller indices that were peeled">
  ];
}

def HoistInvariants : Pass<"nb-hoist-invariants"> {
  let summary = "compute values outside the loops that they do not depend on";
  let description = [{
    Finds for every pure op the loops that its value depends on, and moves the op out of all other
    loops: out of the image, to the pixel, or into an outer sum. Equal values that meet there are
    computed once.

    Only whole ops move; three passes do more. `nb-tabulate-invariants` makes a table of a value
    that depends on the panel or a dimension of a sum but not on the pixel. `nb-split-sums` makes a
    loop for values that depend only on the outer dimensions of a sum. `nb-factor-sums` moves
    factors out of a sum. Run this pass again after each of the last two.

    An op that may be undefined, such as the lookup of an entry that may not exist, does not move
    (`nb.lookup` defines which entries are known to exist). Remarks count what was moved and name
    ops that stay because they are not pure or not safe.

    Example: `nb-opt --nb-hoist-invariants experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"toFunction", "to-function", "ops that were moved out of images">,
    Statistic<"toPixel", "to-pixel", "ops that were moved out of all sums">,
    Statistic<"toOuterSum", "to-outer-sum", "ops that were moved to an outer sum">
  ];
}

def TabulateInvariants : Pass<"nb-tabulate-invariants"> {
  let summary = "look up values that are the same for every pixel";
  let description = [{
    Some values inside an image depend on the panel or on dimensions of the sums around them, but
    not on the position within the panel. Examples are orientation matrices over phi and mosaic
    domains, and incident beams over sources. Such a value is computed before the image by an
    `nb.tabulate`, and looked up inside.

    A value is tabulated only if that saves work: lookups, conversions of induction variables and
    cheap combinations of smaller tables are not tabulated. Run `nb-hoist-invariants` first, which
    moves values that need no table. Remarks name the tables and their dimensions, and give the
    reason for values without one.

    Example: `nb-opt --nb-hoist-invariants --nb-tabulate-invariants experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"tables", "tables", "nb.tabulate ops that were made">,
    Statistic<"values", "values", "values that are looked up in them">
  ];
}

def SplitSums : Pass<"nb-split-sums"> {
  let summary = "nest sums so that values can leave their inner dimensions";
  let description = [{
    If some ops in the body of a sum depend only on its outer dimensions and cost more than a loop,
    the sum becomes two or more nested sums. The ops stay in the innermost sum;
    `nb-hoist-invariants` then moves them. Terms are added in the same order, in parts.

    Remarks describe how a sum was split. For a sum that was not split, they compare the cost that a
    split would save with the cost of its loop.

    Example: `nb-opt --nb-split-sums --nb-hoist-invariants experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"split", "split", "sums that became nests">,
    Statistic<"loops", "loops", "loops of these nests">
  ];
}

def FactorSums : Pass<"nb-factor-sums"> {
  let summary = "move invariant factors and conditions out of sums";
  let description = [{
    `sum(x * w)` becomes `sum(x) * w`, and `sum(c ? x : 0)` becomes `c ? sum(x) : 0`, if w and c do
    not change in the sum. A factor is also found inside linear ops, such as scalar products or a
    matrix times a vector. It is moved if that makes the body cheaper. The transformation changes
    rounding, so it requires the fast-math flags `reassoc`, `nnan` and `ninf`.

    The product directly follows the sum; `nb-hoist-invariants` then moves it further out. Remarks
    count the factors, and name the sums from which a condition was moved.

    Example: `nb-opt --nb-factor-sums --nb-hoist-invariants experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"factors", "factors", "factors that left a sum">,
    Statistic<"conditions", "conditions", "conditions that left a sum">
  ];
}

def RemoveBranches : Pass<"nb-remove-branches"> {
  let summary = "replace data-dependent branches by selects";
  let description = [{
    Both branches of an `scf.if` are executed, and an `arith.select` chooses each result. In the
    branch that is not taken, lookups read entry 0 and integer divisions divide by 1. A branch with
    side effects, or with another op that may be undefined, is an error.

    A lookup with a `default` is not a branch: `convert-nb-to-arith` makes it a masked load.

    Example: `nb-opt --nb-remove-branches experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"removed", "removed", "scf.if ops that became selects">
  ];
}

def Differentiate : Pass<"nb-differentiate", "::mlir::ModuleOp"> {
  let summary = "turn the program of an image into the program of its derivatives";
  let description = [{
    Replaces `function` by the program of its derivatives with respect to `parameters`, the
    arguments with these names (`nb.name`, or the number of an argument without one). The result is
    ordinary `nb` IR, which can be interpreted, hoisted, fused, compiled, and differentiated again.
    `mode` is one of

    * `jacobian`: `@F_jacobian` returns also the derivative of each result with respect to each
      parameter (all must be scalars), `derivative.NAME`;
    * `jvp`: forward mode. `@F_jvp` takes tangents of all parameters, `tangent.NAME`, and returns
      also those of the results, `jvp.image`, for as many directions at once as `directions` states;
    * `vjp`: reverse mode. `@F_vjp` takes the cotangent of each result, `image_cotangent`, and returns
      also the gradient with respect to each parameter, of the parameter's type, `gradient.NAME`;
    * `hvp`: forward over reverse. `@F_vjp_hvp` takes both and returns also the tangents of the
      gradients: Hessian times direction, `hvp.NAME`.

    Reverse mode has no tape. All terms of a sum have the same adjoint, that of the sum. The adjoint
    of a sum is therefore a sum over the same dimensions, whose body computes the term again and then
    the adjoints of its operands. `nb-fuse` merges this sum with that of the value. The adjoint of an
    image is an image that is summed over its pixels. The adjoint of a table entry is an `nb.scatter`
    in the sum that looked it up.

    Composite ops whose value depends on a parameter are first expanded into ops with derivative
    rules. An op without a rule is an error. Run `nb-remove-branches` before this pass, and
    `nb-hoist-invariants`, which makes derivatives faster: values that do not depend on the sample
    are then differentiated outside of the sums.

    With `value=false` a `vjp` returns gradients only.

    Example: `nb-opt --nb-differentiate="mode=vjp parameters=cell_a,distance" experiment.mlir`
  }];
  let options = [
    Option<"function", "function", "std::string", "\"image\"", "the function to differentiate">,
    Option<"mode", "mode", "::nanobragg::Derivative::Mode", "::nanobragg::Derivative::Mode::VJP",
           "what to make of the function", [{::llvm::cl::values(
             clEnumValN(::nanobragg::Derivative::Mode::Jacobian, "jacobian", "results and derivative images"),
             clEnumValN(::nanobragg::Derivative::Mode::JVP, "jvp", "results and tangents"),
             clEnumValN(::nanobragg::Derivative::Mode::VJP, "vjp", "results and the gradient of a loss"),
             clEnumValN(::nanobragg::Derivative::Mode::HVP, "hvp", "those of vjp and tangents of the gradient"))}]>,
    ListOption<"parameters", "parameters", "std::string",
               "arguments to differentiate with respect to">,
    Option<"directions", "directions", "unsigned", "1", "tangents at once (jvp, hvp)">,
    Option<"value", "value", "bool", "true", "return the function's own results too">
  ];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"differentiated", "differentiated", "functions that were replaced by their derivatives">
  ];
}

def Fuse : Pass<"nb-fuse"> {
  let summary = "one loop nest per image";
  let description = [{
    Sums over the same dimensions and counts in the same body become one sum with several results,
    and images over the same pixels become one image: a value and its derivative are computed in one
    sweep. Two loops are merged if neither uses the other's result. Remarks name what was merged,
    what could not be, and the number of results that were dropped.

    Example: `nb-opt --nb-fuse experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"merged", "merged", "loops that became part of another one">,
    Statistic<"dropped", "dropped", "results of loops that nothing used or that another one equalled">
  ];
}

def SetPrecision : Pass<"nb-set-precision"> {
  let summary = "choose the precision of every value of an image";
  let description = [{
    * `f64`: no change.
    * `mixed`: lattice factors, structure factors and the values computed from them are in f32. An
      elementwise op computes in f32 if one of its operands is in f32 and each of the others is in
      f32, a constant, an entry of a table, or computed outside the image. So does an op that makes
      a vector of such numbers. Geometry (`!nb.vec3`, `!nb.mat3`) and Miller indices stay in f64.
      The lattice factor takes the whole index and computes its fraction itself, exactly (`-> f32`).
      In derivatives, lattice factors have been expanded; there gratings of a fraction (`-> f32`)
      and exponentials of values computed from a fraction are in f32. Sums stay in f64, so that
      errors do not accumulate.
    * `f32`: everything inside the image is in f32, except sums. The Miller index itself is rounded:
      the phase N h is off by about N h 1e-7 turns. For previews of small crystals.

    The rule depends only on types and operands, so it also applies to ops that other passes
    introduce. A remark gives the number of ops that were narrowed.

    Example: `nb-opt --nb-set-precision=precision=mixed experiment.mlir`
  }];
  let options = [
    Option<"precision", "precision", "::nanobragg::Precision", "::nanobragg::Precision::F64",
           "f64, mixed or f32", "precisionValues()">
  ];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"narrowed", "narrowed", "ops that compute in f32">
  ];
}

def CloseAverages : Pass<"nb-close-averages"> {
  let summary = "take averages over distributions in closed form";
  let description = [{
    Replaces each sum over the dimension `draw` by the average in closed form times the number of
    draws. The body of such a sum draws values from distributions (`nb.deviate`).

    The pass proves that the body is linear in the square of one Gaussian lattice factor of an
    `nb.miller_index`. It differentiates this index with respect to all averaged values, first at
    the middle of the distributions. The derivatives show where the spot is brightest. The index is
    differentiated again at that point, and is taken as linear about it. The Gaussian is then
    averaged

    * over normal distributions in closed form,
    * over the last uniform distribution by error functions,
    * over the other uniform ones by Gauss-Legendre quadrature where there is light.

    Everything else is evaluated at the middle. A sum over the dimension `reflection` adds up the
    reflections near the nearest one (`nb.neighbour`). For the formulas see
    `docs/averages-methods.md`.

    With the attribute `nb.reflections`, the function returns a table of reflections: an image for
    each column, in which a pixel stands for a reflection. The light of a reflection is integrated
    over the whole plane of the detector. The reflection is an argument (`reflection_h`,
    `reflection_k`, `reflection_l`), and so is its expected position (`pixel_fast`, `pixel_slow`).
    In a rotation step `reflection_turn` is its expected angle, and `reflection_begin` and
    `reflection_end` are limits of the angle. In a continuous spectrum these two are limits of the
    shift in wavelength. For the formulas see `docs/reflections-methods.md`.

    The arguments `average_node`, `average_weight` and `average_nodes` define the quadrature. Light
    is neglected where the exponent is more than `average_exponent` below its value at the brightest
    point. `reflections_around` is the number of reflections on each side of the nearest one. With
    the attribute `nb.draws`, averages are not closed. A sum that has no closed form is an error.

    Example: `nb-opt --nb-close-averages experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"closed", "closed", "averages that are taken in closed form">,
    Statistic<"drawn", "drawn", "functions whose averages stay draws">
  ];
}

def Cull : Pass<"nb-cull"> {
  let summary = "leave out the samples that have no light";
  let description = [{
    In functions with the attribute `nb.cull`, finds the images that have light only where the
    fractional Miller index `h = B (d - k) / lambda` is near an integer; elsewhere their samples are
    zero, or below a tolerance. In such images h is the result of `nb.miller_index`. Its fraction is
    an operand of lattice factors or of `exp` of a quadratic form. Every term is zero where these
    are zero. The pass inserts `nb.reach` before such an image and marks the image and its sums
    `nb.lit`: their loops then run only over samples that may have light, which the runtime lists.
    For the bounds see `docs/culling-methods.md`.

    A function with the arguments `spot_fast`, `spot_slow` and so on adds up spots of a table.
    Positions and extents of the spots are written before the image. The runtime lists the spots for
    each block of pixels, and sums over the dimension `reflection` run over this list.

    A remark describes what is skipped. If nothing is, a remark at the op that prevents it gives the
    reason. In a function without the attribute `nb.cull`, the remark is at the function.

    Example: `nb-opt --nb-cull experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"culled", "culled", "images whose samples without light are left out">,
    Statistic<"complete", "complete", "images of which all samples are computed">
  ];
}

def Vectorize : Pass<"nb-vectorize"> {
  let summary = "compute neighbouring pixels in lanes";
  let description = [{
    Scalars in the body of an image that depend on the fast pixel index become vectors of `width`
    lanes, one for each of `width` neighbouring pixels. All others stay scalar and are broadcast
    where they meet lanes. The whole kernel has one width. Branches that depend on data must have
    been removed (`nb-remove-branches`): an `scf.if` on a pixel is an error. A division by a scalar
    becomes a multiplication if its fast-math flags contain `arcp`.

    Example: `nb-opt --nb-vectorize=width=8 experiment.mlir`
  }];
  let options = [
    Option<"width", "width", "int64_t", "8", "lanes: pixels computed at once">
  ];
  let dependentDialects = ["::mlir::nb::NBDialect", "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"vectorized", "vectorized", "images that were vectorized">
  ];
}

#endif
