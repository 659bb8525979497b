// Scattering by what is not crystalline -*- tablegen -*.
#ifndef NB_BACKGROUND_OPS
#define NB_BACKGROUND_OPS

include "NBTypes.td"

def NB_TabulatedFactorOp : NB_ExpandableOp<"tabulated_factor", [
    AllTypesMatch<["values", "nodes"]>, AllTypesMatch<["stol", "first", "last", "result"]>]> {
  let summary = "structure factor from a table over sin(theta)/lambda";
  let description = [{
    The value at `stol` of the polynomial through the two entries of the table on either side of it;
    in the first and last interval, where one of them is missing, through the three that are there
    (two, of a table of two). Outside the table it is that of the table's edge. In electrons per
    molecule; `stol` and `nodes` in 1/m.

    Several tables may stand one behind another: that meant here are the entries `first` to `last`,
    both included, whole numbers. Their nodes ascend. `values` and `nodes` are lists: of their grids
    only l counts, h and k are 0. It depends on nothing but its operands; nonBragg.c and
    nanoBragg.cpp (simtbx, `add_background`) take the same four entries but begin their search where
    that of the pixel before has ended.

    A table has at most 65536 entries.

    Example:
    ```mlir
    %F = nb.tabulated_factor %values[%first, %last] nodes %nodes at %stol : !nb.hkl_grid<f64>, f64
    ```
  }];
  let arguments = (ins NB_HklGrid:$values, NB_HklGrid:$nodes, NB_Scalar:$first, NB_Scalar:$last,
                       NB_Scalar:$stol);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $values `[` $first `,` $last `]` `nodes` $nodes `at` $stol attr-dict `:` type($values) `,`
    type($stol)
  }];
  let extraClassDeclaration = [{
    /// Of the search for an interval: 2^16 entries.
    static constexpr int searchSteps = 16;
  }];
}

#endif
