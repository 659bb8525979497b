// Nb to nb passes --------------------------*- tablegen -*.
#ifndef NB_TRANSFORMS_PASSES
#define NB_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def EraseProbes : Pass<"nb-erase-probes"> {
  let summary = "erase nb.probe ops";
  let description = [{
    Only the interpreter looks at probes; a fused kernel has none. A remark says how many probes a
    function lost.

    Example: `nb-opt --nb-erase-probes experiment.mlir`
  }];
  let statistics = [
    Statistic<"erased", "erased", "probes that were erased">
  ];
}

def InsertProbes : Pass<"nb-insert-probes"> {
  let summary = "probe values inside images";
  let description = [{
    Adds an `nb.probe` after ops inside `nb.image` (with `outside`, anywhere), one for each result
    that is a float scalar, an index, a condition or a vector. `ops` chooses by the op's name
    (`nb.lattice_factor`), `names` by the name of the result: both are lists of patterns in which `*`
    stands for any text. With both, an op must match one pattern of each; with neither, or with
    `all`, every op is probed. Constants are never probed. A probe has the name of the value it records, or
    the op's name where the value has none; values that are probed already are left alone.

    A remark says how many probes a function got, another that a pattern matched nothing.

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

    It is the first pass of what `nb-sim --print-pipeline` prints. A count that no function has is an
    error.

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
    Applies the patterns of `files` to the whole program, again and again until none matches: rewrites
    without C++. A file that ends in `.pdll` is PDLL, which needs no more of the dialect than the names of
    ops; any other is MLIR with `pdl.pattern` ops. Constraints and rewrites in C++ are not possible in
    them.

    A `.mlir` file with a `transform.named_sequence @__transform_main` is a schedule, which is run once:
    it says of single sums, tables and images what is done with them, by the ops of
    [schedule.md](schedule.md), and may run whole passes (`transform.apply_registered_pass`). Choices
    (`transform.tune.knob`, `transform.tune.alternatives`) must have been made; `nb-try --tune` makes
    them.

    A remark says how many ops each kind lost and gained; another that no pattern matched.

    Example: `nb-opt --nb-apply-patterns=files=docs/examples/patterns/reciprocal.pdll experiment.mlir`
  }];
  let options = [
    ListOption<"files", "files", "std::string", "files of patterns">,
    Option<"text", "text", "std::string", "\"\"",
           "patterns or a schedule themselves, as a file has them; `nb-try --tune` writes them here">
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
    A stage that makes each pixel from the same pixel of the image before it (`nb.gain`,
    `nb.gain_map`) becomes part of the body of that `nb.image`: one sweep over the pixels, no image in
    between. Where others use the image before the stage, both are computed in that sweep. From
    here on the stage's ops are differentiated, vectorized and lowered like all others of the body.

    A remark says which stages were fused; another which stay, and why: those of an image that
    the function does not compute, and those that need what is computed after the image.

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
    A kernel computes each pixel by itself, and a pixel of `nb.point_spread` needs others. The function
    returns the image that was to be spread instead, in its own precision; the op and the stages after
    it are gone. The runtime spreads (`docs/rationale/detector-response.md`). Where others than stages
    and the function's callers use the spread image, the op stays, and lowering refuses it.

    A remark says where a program was split.

    Example: `nb-opt --nb-split-response experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"split", "split", "programs whose point spread was left to the caller">
  ];
}

def PeelMillerIndex : Pass<"nb-peel-miller-index"> {
  let summary = "take lattice factors of the fraction of the Miller index";
  let description = [{
    Splits a fractional Miller index into its nearest reflection and the exact remainder,
    `delta = hkl - nearest(hkl)`, computed once. `nb.lattice_factor` then takes `fraction delta`,
    nearest lookups and bounds checks take the `integral` reflection. The subtraction is exact in
    floating point, so that arguments of the trigonometric functions stay small.

    A lattice factor in f32 of an index in f64 is left alone: it takes the whole index, whose
    fraction it finds in fixed point (`nb-set-precision`, which runs before). So is one that has
    been peeled before. A remark names what was peeled.

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
    loops around it: out of the image, to the pixel, or into an outer sum. Equal values that meet
    there are computed once.

    Only whole ops move; three passes do more. `nb-tabulate-invariants` makes a table of a value
    that depends on the panel or a sum's dimension but not on the pixel. `nb-split-sums` makes a
    loop for values that depend on the outer dimensions of a sum only. `nb-factor-sums` takes
    factors out of a sum. Run this pass again after each of the last two.

    An op that may be undefined, such as the lookup of an entry that may not exist, stays where the
    program runs it (`nb.lookup` says which entries are known to exist). A remark counts what was
    moved; others name ops that stay because they are not pure or not safe.

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
    A value inside an image that depends on some dimensions of the sums around it or on the panel, but not
    on the place within the panel, is computed by an `nb.tabulate` ahead of the image and looked up
    inside: orientation matrices over phi and mosaic domains, incident beams over sources.

    Values are tabulated only when that saves work: an op that is only a lookup or a conversion of
    an induction variable stays where it is, and so does a cheap combination of smaller tables. Run it
    after `nb-hoist-invariants`, which takes out of the image what needs no table. Remarks say what
    was tabulated over which dimensions, and what was not and why.

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
    A sum over several dimensions becomes two or more nested sums, where ops of its body that cost
    more than a loop depend on its outer dimensions only. The ops stay in the innermost
    sum: run `nb-hoist-invariants` after it. A sum's terms are added in the same order, in parts.
    A remark says how a sum was split; another, of one that stays, what a part would save and what
    a loop of its own costs.

    Example: `nb-opt --nb-split-sums --nb-hoist-invariants experiment.mlir`
  }];
  let dependentDialects = ["::mlir::nb::NBDialect"];
  let statistics = [
    Statistic<"split", "split", "sums that became nests">,
    Statistic<"loops", "loops", "loops of these nests">
  ];
}

def FactorSums : Pass<"nb-factor-sums"> {
  let summary = "apply factors and conditions that do not change in a sum after it";
  let description = [{
    `sum(x * w)` becomes `sum(x) * w`, and `sum(c ? x : 0)` becomes `c ? sum(x) : 0`, where w and c do not
    change in the sum. Factors are found through what is linear in them, such as scalar products or
    a matrix times a vector, and leave where the body gets cheaper. Numbers round differently after it;
    arithmetic that is factored has the fast-math flags `reassoc`, `nnan` and `ninf`.

    The products stand right behind the sum: run `nb-hoist-invariants` after it, which takes them
    further out. Remarks count the factors and name the sums that a condition left.

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
    `scf.if` becomes both branches and an `arith.select` per result. Where a branch is not taken, its
    lookups read entry 0 and its integer divisions divide by 1. A branch with side effects, or with
    another op that may be undefined, is an error.

    A lookup with a `default` is no branch: `convert-nb-to-arith` makes it a masked load.

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
    arguments with these names (`nb.name`, or an argument's number where it has none). What comes
    out is ordinary `nb` IR: it can be interpreted, hoisted, fused, compiled, and differentiated
    again. `mode` is one of

    * `jacobian`: `@F_jacobian` returns also the derivative of each result with respect to each
      parameter, scalars all, as results `derivative.NAME`;
    * `jvp`: forward mode. `@F_jvp` takes tangents `tangent.NAME` of all parameters, `directions` sets
      of them at once, and returns also the tangents of the results, `jvp.image`;
    * `vjp`: reverse mode. `@F_vjp` takes the cotangent of each result, `image_cotangent`, and returns
      also the gradient with respect to each parameter, of the parameter's type, `gradient.NAME`;
    * `hvp`: forward over reverse. `@F_vjp_hvp` takes both and returns also the tangents of the
      gradients: Hessian times direction, `hvp.NAME`.

    Reverse mode keeps no tape. Every term of a sum has the adjoint of the sum. The adjoint of a sum
    is therefore a sum over the same dimensions: its body computes the term once more, then the
    adjoints of what the term was made of. `nb-fuse` makes one sweep of this sum and the value. The
    adjoint of an image is an image that adds up over its pixels. The adjoint of a table's entry is
    an `nb.scatter` in the sum that looked the entry up.

    Composite ops are first expanded into ops with derivative rules, where a parameter reaches them.
    An op without a rule is an error. Run it after `nb-remove-branches`; a hoisted program
    (`nb-hoist-invariants`) has the faster derivative, since what does not depend on the sample is
    differentiated outside of the sums.

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
    Merges sums over the same dimensions and counts that stand in the same body into one sum with
    several results, images over the same pixels likewise: a value and its derivative in one
    sweep. Two loops are merged when neither uses the other's result. Remarks say what was merged
    and what could not be, and how many results of loops were dropped.

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
    * `f64` leaves the program alone.
    * `mixed` computes lattice factors, structure factors and what follows from them in f32:
      elementwise ops on scalars, vectors made of these and their products with them, whose operands
      are all in f32, constants, entries of tables, or computed outside the image. Geometry
      (`!nb.vec3`, `!nb.mat3`), Miller indices, and the fraction of the index and of N times it stay
      exact; the lattice factor takes the whole index and its own fraction (`-> f32`). In
      derivatives, where lattice factors have been expanded, the gratings of a fraction
      (`-> f32`) and the exponential of what follows from one take their place. Sums stay in f64,
      so that they do not drift.
    * `f32` computes everything inside the image in f32, except sums. The Miller index itself is
      rounded then: the phase N h is off by about N h 1e-7 turns. For previews of small crystals.

    The rule looks at types and operands only: what other passes introduce falls under it. A remark
    says how many ops were narrowed.

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
    Finds the sums over the dimension `draw`, whose bodies draw values from distributions
    (`nb.deviate`), and replaces each by the average itself times the number of draws. First it
    proves that the body is linear in the square of one Gaussian lattice factor of an
    `nb.miller_index`. It differentiates that index with respect to all averaged values, at the
    middle of the distributions and where the spot is brightest, and takes it as linear in them
    there. It averages the Gaussian of that: over normal distributions in closed form, over the last
    uniform one by error functions, over the uniform ones before by Gauss-Legendre quadrature where
    there is light. Everything else is taken at the middle. A sum over the dimension `reflection`
    adds up the reflections about the nearest, `nb.neighbour`. `docs/averages-methods.md` has the
    formulas.

    With the attribute `nb.reflections` a reflection stands in the place of each pixel: the place
    along fast and slow is averaged over the plane, and the function returns a table, an image for
    each column. The arguments `reflection_h`, `reflection_k` and `reflection_l` say which
    reflection, `pixel_fast` and `pixel_slow` where it is expected, and of a rotation step
    `reflection_turn` at what angle, `reflection_begin` and `reflection_end` between which angles;
    of a continuous spectrum these two say between which shifts of the wavelength.
    `docs/reflections.md` has the formulas.

    The function's arguments named `average_node`, `average_weight`, `average_nodes`,
    `average_exponent` and `reflections_around` say the quadrature, where its integrand ends, and
    how many reflections are looked at. With the
    attribute `nb.draws` the averages stay draws. A sum that has no closed form is an error.

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
    Looks at the images of functions with the attribute `nb.cull`. It finds those whose samples are
    zero, or below a tolerance, unless the fractional Miller index `h = B (d - k) / lambda` is near
    an integer: h comes from `nb.miller_index`, its fraction goes into a lattice factor or into
    `exp` of a quadratic form, and every term of the image vanishes with these. It puts `nb.reach`
    ahead of such an image and marks the image and its sums `nb.lit`: their loops then run over the
    samples that the runtime finds to have light. `docs/culling-methods.md` has the bounds.

    A function with the arguments `spot_fast`, `spot_slow` and so on adds up spots of a table. Their
    places and extents are written ahead of the image, and its sums over the dimension `reflection`
    run over the spots that the runtime finds to light a block of pixels.

    A remark says what is left out; where nothing is, another one why, at the op in the way,
    or at a function without the attribute `nb.cull`.

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
    Turns the scalars of an image's body that depend on the fast pixel index into lanes, `width`
    pixels at a time; what does not depend on it stays scalar and is spread where it meets lanes.
    The whole kernel has one width. Data-dependent control flow must be gone
    (`nb-remove-branches`): an `scf.if` on a pixel is an error. A division by what all lanes share
    becomes a product where its fast-math flags have `arcp`.

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
