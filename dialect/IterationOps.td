// Images, sums, tables --------------*- tablegen -*.
#ifndef NB_ITERATION_OPS
#define NB_ITERATION_OPS

include "LoopOp.td"
include "NBTypes.td"

def NB_Dimension : I32EnumAttr<"Dimension", "a named loop dimension", [
    I32EnumAttrCase<"panel", 0>, I32EnumAttrCase<"slow", 1>, I32EnumAttrCase<"fast", 2>,
    I32EnumAttrCase<"layer", 3>, I32EnumAttrCase<"subslow", 4>, I32EnumAttrCase<"subfast", 5>,
    I32EnumAttrCase<"source", 6>, I32EnumAttrCase<"phi", 7>, I32EnumAttrCase<"mosaic", 8>,
    I32EnumAttrCase<"material", 9>, I32EnumAttrCase<"symmetry", 10>,
    I32EnumAttrCase<"draw", 11>, I32EnumAttrCase<"reflection", 12>]> {
  let cppNamespace = "::mlir::nb";
  let genSpecializedAttr = 0;
}
def NB_DimensionAttr : EnumAttr<NB_Dialect, NB_Dimension, "dim"> {
  let assemblyFormat = "`<` $value `>`";
}
def NB_DimensionArrayAttr : TypedArrayAttrBase<NB_DimensionAttr, "array of loop dimensions">;

/// Shared by the ops that run a body over named dimensions.
class NB_LoopOp<string mnemonic, list<Trait> traits = []>
    : NB_Op<mnemonic,
            !listconcat([SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable, LoopOp],
                        traits)> {
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  string loopDeclaration = "YieldOp getYield();\n";
  let extraClassDeclaration = loopDeclaration;
}

def NB_ImageOp : NB_LoopOp<"image", [AttrSizedOperandSegments]> {
  let summary = "one value per pixel, and sums over the pixels";
  let description = [{
    Evaluates its body for each pixel (panel, slow, fast). If a result is a tensor, the yielded
    values are collected into an image, indexed [panel][slow][fast]. Any other result (a scalar,
    vector, matrix, table or grid) is the sum of the yielded values over the pixels. Gradients of an
    image are such sums. Pixels are independent of each other.

    With `roi`, only pixels with fast in [fast_min, fast_max] and slow in [slow_min, slow_max],
    both inclusive, are evaluated; with `mask`, only those whose mask value is not 0. All others
    are 0 in images and missing from sums.

    `lanes` (set by `nb-vectorize`): the body computes that many neighbouring pixels along fast at
    once, and the induction variable of fast is a vector of their indices; lanes past the end of a
    row are computed and dropped. Sums are over the lanes, too: results never have lanes. `rows`,
    only in images that `nb-cull` has marked: the lanes are that many rows of neighbouring pixels,
    one row after another, and the induction variable of slow is a vector, too.

    Constraints:
    * (C1) the dimensions are panel, slow, fast, in this order
    * (C2) the body has one index argument per dimension; that of fast is `vector<Wxindex>` with
      `lanes = W`
    * (C3) the body yields one value per result: the image's element type or the type of the sum,
      over the lanes; a table or grid as it is
    * (C4) tensor results are of rank 3, of unknown sizes, of f64 or f32; sums have no lanes
    * (C5) `roi` has four bounds: fast_min, fast_max, slow_min, slow_max
    * (C6) `mask` is a rank-3 tensor of i8

    Example:
    ```mlir
    %img = nb.image panel %p in %np, slow %s in %ns, fast %f in %nf
             roi(%f0, %f1, %s0, %s1) : tensor<?x?x?xf64> {
      nb.yield %one : f64
    }
    %same, %total = nb.image panel %p in %np, slow %s in %ns, fast %f in %nf
        : tensor<?x?x?xf64>, f64 {
      nb.yield %one, %one : f64, f64
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$counts, Variadic<Index>:$roi,
                       Optional<AnyRankedTensor>:$mask, NB_DimensionArrayAttr:$dimensions,
                       OptionalAttr<I64Attr>:$lanes, OptionalAttr<I64Attr>:$rows);
  let results = (outs Variadic<AnyTypeOf<[AnyRankedTensor, NB_Summand]>>:$images);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = loopDeclaration#[{
    bool addsUp() { return true; }
    ::mlir::Operation *createSum(::mlir::OpBuilder &builder, ::mlir::TypeRange types);
  }];
}

def NB_SumOp : NB_LoopOp<"sum"> {
  let summary = "sum over named dimensions";
  let description = [{
    Adds what the body yields over all combinations of its induction variables, each running from 0
    to its count, the last dimension fastest. Each yielded value has its own sum, added up in any
    order. A sum with a count of 0 or less is 0. Vectors, matrices, tables and grids are added
    element by element.

    Constraints:
    * (C1) one index argument and one count per dimension, at least one dimension
    * (C2) the body yields one scalar (or lanes), vector, matrix, table or grid per result, of the
      result's type
    * (C3) a dimension appears once

    Example:
    ```mlir
    %I = nb.sum source %i in %sources, mosaic %j in %domains : f64 {
      %w = nb.lookup %weights[%i] : !nb.table<?xf64>
      nb.yield %w : f64
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$counts, NB_DimensionArrayAttr:$dimensions);
  let results = (outs Variadic<NB_Summand>:$sums);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = loopDeclaration#[{
    bool addsUp() { return true; }
  }];
}

def NB_FirstOp : NB_LoopOp<"first"> {
  let summary = "the first value, in loop order, whose condition holds";
  let description = [{
    Searches the combinations of the induction variables in order, last dimension fastest, for the
    first one where the yielded condition holds. Returns the values yielded there, or 0 if there is
    no such combination. The body is evaluated for all combinations, also for those after the first
    one.

    This is how the C program picks the one polarization factor of a pixel: that of the first
    layer, sub-pixel and source that the resolution cutoff does not remove.

    Constraints:
    * (C1) one index argument and one count per dimension, at least one dimension
    * (C2) the body yields a condition, then one value per result, of the result's type
    * (C3) a dimension appears once
    * (C4) at least one result; all have the lanes of the condition

    Example:
    ```mlir
    %polar = nb.first source %i in %sources : f64 {
      %x = nb.lookup %t[%i] : !nb.table<?xf64>
      %keep = arith.cmpf ogt, %x, %zero : f64
      nb.yield %keep, %x : i1, f64
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$counts, NB_DimensionArrayAttr:$dimensions);
  let results = (outs Variadic<NB_Geometric>:$found);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = loopDeclaration#[{
    ::mlir::OperandRange getYieldedResults() {
      return getBodyBlock()->getTerminator()->getOperands().drop_front();
    }
  }];
}

def NB_TabulateOp : NB_LoopOp<"tabulate"> {
  let summary = "a table of values over named dimensions, computed once";
  let description = [{
    Evaluates its body for all combinations of its induction variables and stores what it yields,
    one table per yielded value. `nb-tabulate-invariants` makes such tables of values that depend on
    some of the loops around them but not on the pixel.

    Constraints:
    * (C1) one index argument and one count per dimension, at least one dimension
    * (C2) each result is a table of that rank over the type of the yielded value
    * (C3) a dimension appears once

    Example:
    ```mlir
    %U = nb.tabulate mosaic %j in %domains : !nb.table<?x!nb.mat3<f64>> {
      %axis = nb.lookup %axes[%j] : !nb.table<?x!nb.vec3<f64>>
      %u = nb.axis_rotation %axis, %spread : !nb.vec3<f64>
      nb.yield %u : !nb.mat3<f64>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$counts, NB_DimensionArrayAttr:$dimensions);
  let results = (outs Variadic<NB_Table>:$tables);
  let regions = (region SizedRegion<1>:$body);
}

def NB_LookupOp : NB_Op<"lookup", !listconcat(NB_EntryTraits, [
    TypesMatchWith<"'result' has the element type of 'table'", "table", "result",
                   "::llvm::cast<::mlir::nb::TableType>($_self).getElementType()">])> {
  let summary = "one entry of a table";
  let description = [{
    `table[indices]`. Reading outside the table is undefined.

    Passes execute a lookup speculatively (before a loop that may have no iterations, or in place of
    a branch) only if the entry is known to exist. It exists if the indices are induction variables
    of loops with the counts of an `nb.tabulate`. `inbounds` asserts that the entry exists wherever
    the indices are defined. A table argument has memory for at least one entry, so
    `nb-remove-branches` can read entry 0 in place of an entry that a branch guards.

    Constraints:
    * (C1) as many indices as the table has dimensions
    * (C2) a constant index is not negative, and lies inside a table whose size is a constant

    Example:
    ```mlir
    %w = nb.lookup %weights[%i] : !nb.table<?xf64>
    %v = nb.lookup inbounds %weights[%i] : !nb.table<?xf64>
    ```
  }];
  let arguments = (ins NB_Table:$table, Variadic<Index>:$indices, UnitAttr:$inbounds);
  let results = (outs AnyType:$result);
  let assemblyFormat = "(`inbounds` $inbounds^)? $table `[` $indices `]` attr-dict `:` type($table)";
  let hasVerifier = 1;
}

def NB_ScatterOp : NB_DifferentiableOp<"scatter", [AttrSizedOperandSegments], NB_EntryTraits> {
  let summary = "a table that is 0 except in one entry";
  let description = [{
    The table of the given sizes that holds `value` at `indices` and 0 everywhere else. A sum of
    such tables, entry by entry, is the adjoint of `nb.lookup`. With lanes, the values of all lanes
    are added into the one entry. An index outside the sizes is undefined.

    Constraints:
    * (C1) one index and one size per dimension of the table
    * (C2) `value` is of the table's element type, a float, vector or matrix, or lanes of it
    * (C3) the result is used only by the nb.yield of an nb.sum or nb.image, or by an nb.add whose
      result is used in the same way

    Example:
    ```mlir
    %t = nb.sum source %i in %n : !nb.table<?xf64> {
      %e = nb.scatter %v at [%i] in (%n) : !nb.table<?xf64>
      nb.yield %e : !nb.table<?xf64>
    }
    %l = nb.sum source %i in %n : !nb.table<?xf64> {
      %e = nb.scatter %w at [%i] in (%n) : vector<8xf64> to !nb.table<?xf64>
      nb.yield %e : !nb.table<?xf64>
    }
    ```
  }];
  let arguments = (ins NB_Geometric:$value, Variadic<Index>:$indices, Variadic<Index>:$sizes);
  let results = (outs NB_Table:$result);
  let assemblyFormat = [{
    $value `at` ` ` `[` $indices `]` `in` ` ` `(` $sizes `)` attr-dict
    `:` custom<ScatterTypes>(type($value), type($result))
  }];
  let hasVerifier = 1;
  let rules = [
    NB_Rule<"value", "scatterLike(op, t)", "entryOf(op, g)">];
}

def NB_ReachOp : NB_Op<"reach", [AttrSizedOperandSegments]> {
  let summary = "where light can fall, and so which samples need not be computed";
  let description = [{
    The numbers with which the runtime finds the blocks of pixels and the orientations that may have
    light. `nb-cull` adds this op to an image that has light only where the fractional Miller index
    is near an integer; see `docs/culling-methods.md` for the proof and the runtime. `numbers` and
    `tables` are those of `nb_reach_numbers` and `nb_reach_tables` in `nanobragg/KernelABI.h`, in
    their order. The op computes nothing: without it, the program has the same result.

    Example:
    ```mlir
    nb.reach numbers(%a, %b) tables(%t, %u) : !nb.table<?xf64>, !nb.table<?x!nb.vec3<f64>>
    ```
  }];
  let arguments = (ins Variadic<F64>:$numbers, Variadic<AnyType>:$tables);
  let assemblyFormat = [{
    (`numbers` `` `(` $numbers^ `)`)? `tables` `` `(` $tables `)` attr-dict `:` type($tables)
  }];
}

def NB_ReadPixelOp : NB_Op<"read_pixel", NB_EntryTraits> {
  let summary = "the value of one pixel of an image";
  let description = [{
    `image[panel][slow][fast]`. With lanes of `fast` the result has one value per lane: neighbouring
    pixels of one row or, with `in rows`, of several rows. Lanes past the end of a row are 0; reading
    elsewhere outside the image is undefined. Where the indices are those of the pixel of an
    `nb.image`, both images have the same size.

    Constraints:
    * (C1) the image is a rank-3 tensor of unknown sizes, of f64 or f32
    * (C2) the result is the image's element, with the lanes of `fast`; `slow` has none or the same

    Example:
    ```mlir
    %v = nb.read_pixel %image[%panel, %slow, %fast] : tensor<?x?x?xf64>
    %w = nb.read_pixel %image[%panel, %slow, %lanes] : tensor<?x?x?xf64> to vector<8xf64>
    %u = nb.read_pixel %image[%panel, %rows, %lanes] : tensor<?x?x?xf64> to vector<8xf64> in rows
    ```
  }];
  let arguments = (ins AnyRankedTensor:$image, Index:$panel, NB_IndexLike:$slow,
                       NB_IndexLike:$fast);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $image `[` $panel `,` $slow `,` $fast `]` attr-dict
    `:` custom<PixelTypes>(type($image), type($slow), type($fast), type($result))
  }];
  let hasVerifier = 1;
}

def NB_YieldOp : NB_Op<"yield", [Pure, ReturnLike, Terminator,
    ParentOneOf<["ImageOp", "SumOp", "FirstOp", "TabulateOp"]>]> {
  let summary = "the values that a body computed";
  let description = [{
    Ends the body of an image, a sum, a search or a table.

    Example:
    ```mlir
    nb.yield %intensity : f64
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif
