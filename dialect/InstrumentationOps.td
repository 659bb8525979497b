// Probes ----------------------*- tablegen -*.
#ifndef NB_INSTRUMENTATION_OPS
#define NB_INSTRUMENTATION_OPS

include "NBTypes.td"

def NB_ProbeOp : NB_Op<"probe", [MemoryEffects<[MemWrite]>]> {
  let summary = "records a value under a name";
  let description = [{
    The interpreter records statistics of every value that reaches the probe. The fused pipeline
    erases probes (`nb-erase-probes`), so that they never change what a kernel computes.

    Example:
    ```mlir
    nb.probe "F_latt" %L : f64
    ```
  }];
  let arguments = (ins StrAttr:$name, AnyType:$value);
  let assemblyFormat = "$name $value attr-dict `:` type($value)";
}

#endif
