// Lookups in tables whose nodes are anywhere -*- tablegen -*.
#ifndef NB_TABLE_OPS
#define NB_TABLE_OPS

include "NBTypes.td"

def NB_TabulatedFactorOp : NB_ExpandableOp<"tabulated_factor", [
    AllTypesMatch<["values", "nodes"]>, AllTypesMatch<["stol", "first", "last", "result"]>]> {
  let summary = "structure factor from a table over sin(theta)/lambda";
  let description = [{
    The value at `stol` of the polynomial through the two nearest entries of the table on either
    side; in the first and last interval, through the nearest three entries (in a table of two,
    through both). Outside the table the value is that of the nearest end. In electrons per
    molecule; `stol` and `nodes` in 1/m.

    `values` may hold several tables one after another. This op reads the entries from `first` to
    `last`, both included, whole numbers. Their nodes ascend. `values` and `nodes` are lists: grids
    in which h and k are 0. The result depends on the operands only. nonBragg.c and nanoBragg.cpp
    (simtbx, `add_background`) use the same four entries, but begin the search at the place found
    for the previous pixel.

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
    /// Steps of the search for an interval: tables have up to 2^16 entries.
    static constexpr int searchSteps = 16;
  }];
}

def NB_TablePositionOp : NB_ExpandableOp<"table_position", [
    AllTypesMatch<["first", "last", "at", "result"]>]> {
  let summary = "position of a number between the entries of a table";
  let description = [{
    `i + (at - nodes[i]) / (nodes[i + 1] - nodes[i])` for the entry i at or below `at`: a whole
    number at a node, a fraction between two nodes. It is continuous. Outside the table it is the
    position of the nearest end.

    The table consists of the entries `first` to `last` (whole numbers, both included) of the list
    `nodes`. Nodes ascend; there are at most 65536. In a table of one entry the position is always
    `first`. `nodes` is a list: a grid in which h and k are 0.

    Example:
    ```mlir
    %position = nb.table_position %nodes[%first, %last] at %wavenumber : !nb.hkl_grid<f64>, f64
    ```
  }];
  let arguments = (ins NB_HklGrid:$nodes, NB_Scalar:$first, NB_Scalar:$last, NB_Scalar:$at);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $nodes `[` $first `,` $last `]` `at` $at attr-dict `:` type($nodes) `,` type($at)
  }];
}

#endif
