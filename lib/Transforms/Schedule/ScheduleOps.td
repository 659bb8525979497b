// Ops of schedules: the transform dialect's, for nb programs -*- tablegen -*.
#ifndef NB_TRANSFORMS_SCHEDULEOPS
#define NB_TRANSFORMS_SCHEDULEOPS

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Ops that change a program. Handles to what is gone are consumed.
class NB_ScheduleOp<string mnemonic, list<Trait> traits = []>
    : TransformDialectOp<"nb." # mnemonic,
                         !listconcat([MemoryEffectsOpInterface], traits)> {
  let cppNamespace = "::mlir::nb::schedule";
}

def NB_MatchOp : NB_ScheduleOp<"match", [DeclareOpInterfaceMethods<TransformOpInterface>,
                                         NavigationTransformOpTrait]> {
  let summary = "finds ops by their kind, or by the name of the value that they compute";
  let description = [{
    All ops inside `root` that are called `op` and whose first result is called `value` in the
    program's text; `%hkl` and `%hkl_12` are both called `"hkl"`. One of the two may be omitted. If
    there is no such op, that is a silenceable error.

    Example:
    ```mlir
    %sum = transform.nb.match op "nb.sum" in %program : (!transform.any_op) -> !transform.any_op
    %hkl = transform.nb.match value "hkl" in %program : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$root, OptionalAttr<StrAttr>:$op,
                       OptionalAttr<StrAttr>:$value);
  let results = (outs TransformHandleTypeInterface:$matched);
  let assemblyFormat = [{
    (`op` $op^)? (`value` $value^)? `in` $root attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

class NB_ScheduleEachOp<string mnemonic, string target>
    : NB_ScheduleOp<mnemonic, [TransformOpInterface, TransformEachOpTrait,
                               DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  code apply = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::}] # target # [{ target,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
  let extraClassDeclaration = apply;
}

def NB_OrderDimensionsOp : NB_ScheduleEachOp<"order_dimensions", "nb::SumOp"> {
  let summary = "sets the order of the loops of a sum";
  let description = [{
    The dimensions of an `nb.sum` get this order, the last one fastest. `order` names all of them.
    Terms are added in another order, so the last bits of the sum may differ.

    Example:
    ```mlir
    transform.nb.order_dimensions %sum to ["mosaic", "phi", "source"] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$sum, StrArrayAttr:$order);
  let assemblyFormat = "$sum `to` $order attr-dict `:` type($sum)";
}

def NB_SplitSumOp : NB_ScheduleEachOp<"split_sum", "nb::SumOp"> {
  let summary = "splits a sum into nested sums";
  let description = [{
    The first `after` dimensions of an `nb.sum` become an outer sum, and the others an inner sum.
    `nb-hoist-invariants` then moves values that depend only on outer dimensions out of the inner
    sum. The pass `nb-split-sums` splits the sums for which its cost model predicts a gain.

    Example:
    ```mlir
    %outer, %inner = transform.nb.split_sum %sum after 1
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$sum, I64Attr:$after);
  let results = (outs TransformHandleTypeInterface:$outer, TransformHandleTypeInterface:$inner);
  let assemblyFormat = "$sum `after` $after attr-dict `:` functional-type(operands, results)";
}

def NB_TabulateThisOp : NB_ScheduleEachOp<"tabulate", "Operation *"> {
  let summary = "makes a table of the value that an op computes";
  let description = [{
    A pure op inside an `nb.image`, with everything that it is computed from, moves into an
    `nb.tabulate` before the image, over the dimensions of the sums that it depends on. A lookup
    takes its place. The op must depend on at least one of these dimensions, and not on the pixel.
    The pass `nb-tabulate-invariants` does this for the values for which its cost model predicts a
    gain.

    Example:
    ```mlir
    %table = transform.nb.tabulate %rotation : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$table);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def NB_RecomputeOp : NB_ScheduleEachOp<"recompute", "nb::TabulateOp"> {
  let summary = "replaces a table by recomputation";
  let description = [{
    The inverse of `transform.nb.tabulate`: each `nb.lookup` of the table is replaced by a copy of
    the table's body, and the table is erased. If another op uses the table, that is an error.

    Example:
    ```mlir
    transform.nb.recompute %table : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$table);
  let assemblyFormat = "$table attr-dict `:` type($table)";
}

def NB_PeelOp : NB_ScheduleEachOp<"peel", "Operation *"> {
  let summary = "evaluates lattice factors at the fraction of a Miller index";
  let description = [{
    Does for one Miller index, the result of `index`, what `nb-peel-miller-index` does for all Miller
    indices of a function. The index must be used by a lattice factor that does not take the fraction
    yet.

    Example:
    ```mlir
    transform.nb.peel %hkl : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$index);
  let assemblyFormat = "$index attr-dict `:` type($index)";
}

def NB_TilePixelsOp : NB_ScheduleEachOp<"tile_pixels", "nb::ImageOp"> {
  let summary = "sets how many pixels of an image are computed at once";
  let description = [{
    Makes the body of an `nb.image` compute `lanes` (1 to 64) neighbouring pixels along fast at once,
    as `nb-vectorize` does for all images of a function. Branches that depend on data must have been
    removed (`nb-remove-branches`).

    Example:
    ```mlir
    %tiled = transform.nb.tile_pixels %image by 16 : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$image, I64Attr:$lanes);
  let results = (outs TransformHandleTypeInterface:$tiled);
  let assemblyFormat = "$image `by` $lanes attr-dict `:` functional-type(operands, results)";
}

#endif
