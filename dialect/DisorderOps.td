// How a crystal deviates from a perfect one -*- tablegen -*.
#ifndef NB_DISORDER_OPS
#define NB_DISORDER_OPS

include "NBTypes.td"

def NB_DiffuseFactorOp : NB_ExpandableOp<"diffuse_factor", [
    AllTypesMatch<["reflection", "distance", "lengths", "displacements"]>,
    NB_ElementOf<"reflection", "result">]> {
  let summary = "diffuse scattering around a reflection by liquid-like motions";
  let description = [{
    `e exp(-e) 8 pi l1 l2 l3 / (1 + 4 pi^2 |L d|^2)^2` with `e = 4 pi^2 |S q|^2`, in m^3.
    `reflection` = q is the reciprocal vector of the reflection; `distance` = d leads from it to the
    point whose intensity is computed; both are in 1/m. L is the diagonal matrix of the correlation
    lengths `lengths` = (l1, l2, l3), S that of the root mean square `displacements`, both in m. All
    are in one frame that turns with the crystal.

    Displacements of the molecules are correlated over a distance r as exp(-|L^-1 r|) (liquid-like
    motions: Caspar et al., Nature 332 (1988) 659; Meisburger et al., Nat. Commun. 11 (2020) 1271).
    The second factor is the Fourier transform of that correlation, whose integral over reciprocal
    space is 1. To get an intensity on the scale of the Bragg peaks, multiply the result by the
    squared structure factor and by the number of unit cells divided by the volume of one. simtbx
    (diffuse_util.h) has the same formula with L and S in the laboratory's frame, and other scales.

    Example:
    ```mlir
    %D = nb.diffuse_factor %q, %d lengths %l displacements %s : !nb.vec3<f64>
    ```
  }];
  let arguments = (ins NB_Vec3:$reflection, NB_Vec3:$distance, NB_Vec3:$lengths,
                       NB_Vec3:$displacements);
  let results = (outs NB_Scalar:$result);
  let assemblyFormat = [{
    $reflection `,` $distance `lengths` $lengths `displacements` $displacements attr-dict
    `:` type($reflection)
  }];
}

#endif
