// Averages and the distributions that they are taken over -*- tablegen -*.
#ifndef NB_AVERAGE_OPS
#define NB_AVERAGE_OPS

include "NBTypes.td"

def NB_Distribution : NB_Enum<"Distribution", "the distribution of a quantity that is averaged",
                              [I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"normal", 1>]>;
def NB_DistributionAttr : NB_KeywordAttr<NB_Distribution, "distribution">;

def NB_DeviateOp : NB_Op<"deviate", !listconcat(NB_EntryTraits, [
    InactiveOp,
    TypesMatchWith<"'result' has the element type of 'table'", "table", "result",
                   "::llvm::cast<::mlir::nb::TableType>($_self).getElementType()">])> {
  let summary = "one draw of a quantity that is averaged over its distribution";
  let description = [{
    `table[draw]`, from a table of draws: a number, or the three independent components of a vector.
    `uniform` numbers lie between -1/2 and 1/2, `normal` ones have a mean of 0 and a standard
    deviation of 1. A sum over the dimension `draw` whose body takes such values is an average by
    draws, times their number. `nb-close-averages` replaces the sum by the average over the
    distribution itself. If draws are requested, it keeps the sum, and replaces each `nb.deviate` by
    an `nb.lookup` in the table (`inbounds` if the op is).

    Example:
    ```mlir
    %u = nb.deviate uniform inbounds %draws[%i] : !nb.table<?xf64>
    %w = nb.deviate normal %rotations[%i] : !nb.table<?x!nb.vec3<f64>>
    ```
  }];
  let arguments = (ins NB_DistributionAttr:$distribution, NB_Table:$table,
                       Variadic<Index>:$indices, UnitAttr:$inbounds);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $distribution (`inbounds` $inbounds^)? $table `[` $indices `]` attr-dict `:` type($table)
  }];
}

def NB_NeighbourOp : NB_PureOp<"neighbour", [InactiveOp, AllTypesMatch<["hkl", "result"]>]> {
  let summary = "one of the reflections about a fractional Miller index";
  let description = [{
    Reflection number `number` of a cube of reflections, with l fastest. The centre of the cube is
    the reflection nearest to `hkl`, and its edges are `2 around + 1` reflections long. A sum over
    the dimension `reflection` adds up the contributions of all of them to a pixel. After `nb-cull`
    it runs over the reflections that the runtime lists, not over the cube.

    Example:
    ```mlir
    %n = nb.neighbour %hkl, %i within %around : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$hkl, Index:$number, Index:$around);
  let results = (outs NB_Vec3:$result);
  let assemblyFormat = "$hkl `,` $number `within` $around attr-dict `:` type($hkl)";
}

#endif
