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
  let summary = "the ops of a kind, or that make a value of a name";
  let description = [{
    All ops inside `root` that are called `op` and whose first result is called `value` in the
    program's text: `%hkl` and `%hkl_12` are `"hkl"`. Either may be left out. That there is none is an error
    (a silenceable one, as all of this dialect's are).

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
  let summary = "the order of a sum's loops";
  let description = [{
    The dimensions of an `nb.sum` get this order, the last one fastest. `order` names all of them.
    The terms are the same; they are added in another order, so that the last bits may differ.

    Example:
    ```mlir
    transform.nb.order_dimensions %sum to ["mosaic", "phi", "source"] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$sum, StrArrayAttr:$order);
  let assemblyFormat = "$sum `to` $order attr-dict `:` type($sum)";
}

def NB_SplitSumOp : NB_ScheduleEachOp<"split_sum", "nb::SumOp"> {
  let summary = "a sum in a sum";
  let description = [{
    The first `after` dimensions of an `nb.sum` become a sum around that of the others. What depends on
    outer dimensions only then leaves the inner sum by `nb-hoist-invariants`. `nb-split-sums` does it
    where it seems to pay.

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
  let summary = "a table of what an op computes";
  let description = [{
    What a pure op inside an `nb.image` computes, with all that it is computed from, moves into an
    `nb.tabulate` ahead of the image, over the dimensions of the sums that it depends on, and is looked up
    where it was. It must depend on one of them at least and not on the pixel.
    `nb-tabulate-invariants` does it where it seems to pay.

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
  let summary = "no table: each entry where it is read";
  let description = [{
    The inverse of `transform.nb.tabulate`: each `nb.lookup` of the table becomes a copy of what the
    table's body computes, and the table goes. Whoever else uses the table is in the way.

    Example:
    ```mlir
    transform.nb.recompute %table : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$table);
  let assemblyFormat = "$table attr-dict `:` type($table)";
}

def NB_PeelOp : NB_ScheduleEachOp<"peel", "Operation *"> {
  let summary = "lattice factors of the fraction of this Miller index";
  let description = [{
    What `nb-peel-miller-index` does to all Miller indices of a function, done to what this op
    computes. It must be used by a lattice factor that does not take the fraction yet.

    Example:
    ```mlir
    transform.nb.peel %hkl : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$index);
  let assemblyFormat = "$index attr-dict `:` type($index)";
}

def NB_TilePixelsOp : NB_ScheduleEachOp<"tile_pixels", "nb::ImageOp"> {
  let summary = "pixels of an image computed at once";
  let description = [{
    The body of an `nb.image` computes `lanes` neighbouring pixels along fast at once, 1 to 64, as
    `nb-vectorize` makes it for all images of a function. Branches must be gone.

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
