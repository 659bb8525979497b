// How values of nb types lie in memory ------*- tablegen -*.
#ifndef NB_MEMORY_OPS
#define NB_MEMORY_OPS

include "NBTypes.td"

def NB_PartsOp : NB_PureOp<"parts"> {
  let summary = "the scalars and buffers that an argument is passed as";
  let description = [{
    Takes an argument of a function apart. A vector becomes 3 and a matrix 9 scalars, row by row. A
    table becomes the memory of its scalars, the components of an entry next to each other. A grid
    becomes its bounds, in the order of `nb_hkl_grid`, and the memory of its values. An image or a
    mask becomes the memory of its pixels. `convert-nb-to-loops` and `convert-nb-to-arith` leave this
    op at the function's entry, and `nb-outline-kernel` replaces it by loads through the pointers
    that a kernel gets.

    Constraints:
    * (C1) the value is an argument of a function
    * (C2) the number and types of the results follow from the type of the value

    Example:
    ```mlir
    %x, %y, %z = nb.parts %v : !nb.vec3<f64> to f64, f64, f64
    %memory = nb.parts %table : !nb.table<?xf64> to memref<?xf64>
    ```
  }];
  let arguments = (ins AnyType:$whole);
  let results = (outs Variadic<AnyType>:$parts);
  let assemblyFormat = "$whole attr-dict `:` type($whole) `to` type($parts)";
  let hasVerifier = 1;
}

def NB_StoredOp : NB_PureOp<"stored"> {
  let summary = "the value that a buffer holds";
  let description = [{
    Images, sums over pixels and tables that a kernel returns are in memory. `convert-nb-to-loops`
    inserts this op before the function's return. `nb-outline-kernel` replaces the buffer by the
    memory that the caller gives.

    Constraints:
    * (C1) the buffer is a `memref<?xT>`, T being the type of the value's scalars

    Example:
    ```mlir
    %image = nb.stored %pixels : memref<?xf32> as tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `as` type($value)";
  let hasVerifier = 1;
}

#endif
