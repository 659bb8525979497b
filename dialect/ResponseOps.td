// What happens to an image after its pixels are computed -*- tablegen -*.
#ifndef NB_RESPONSE_OPS
#define NB_RESPONSE_OPS

include "NBTypes.td"
include "Response.td"

/// A stage whose pixels need the same pixel of the image before it and no other.
class NB_PointwiseResponseOp<string mnemonic, list<Trait> traits = []>
    : NB_PureOp<mnemonic, !listconcat(
          [DeclareOpInterfaceMethods<PointwiseResponse, ["pixelValue"]>], traits)> {
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

/// The scalar operand `s` has the element type of the image `i`.
class NB_PixelOf<string i, string s>
    : TypesMatchWith<"'" # s # "' has the element type of '" # i # "'", i, s,
                     "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">;

def NB_GainOp : NB_PointwiseResponseOp<"gain", [NB_PixelOf<"image", "gain">]> {
  let summary = "photons to analogue-to-digital units (ADU), one gain for all pixels";
  let description = [{
    `result[p][s][f] = gain image[p][s][f]`, with the gain in ADU per photon, as in the C program's
    companion noisify (`-gain`). The result may have a smaller precision than the image.

    Constraints:
    * (C1) image and result are rank-3 tensors of unknown sizes, of f64 or f32

    Example:
    ```mlir
    %adu = nb.gain %photons, %gain : tensor<?x?x?xf64>
    %out = nb.gain %photons, %gain : tensor<?x?x?xf64> to tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$image, NB_Scalar:$gain);
  let assemblyFormat = [{
    $image `,` $gain attr-dict `:` custom<ResponseTypes>(type($image), type($result))
  }];
}

def NB_GainMapOp : NB_PointwiseResponseOp<"gain_map", [AllTypesMatch<["image", "map"]>]> {
  let summary = "each pixel times its own gain";
  let description = [{
    `result[p][s][f] = map[p][s][f] image[p][s][f]`: pixels of a detector differ in their gain. The
    map is in ADU per photon, or relative to an `nb.gain` that follows. The result may have a smaller
    precision than the image.

    Constraints:
    * (C1) image and result are rank-3 tensors of unknown sizes, of f64 or f32

    Example:
    ```mlir
    %adu = nb.gain_map %photons, %map : tensor<?x?x?xf64>
    %out = nb.gain_map %photons, %map : tensor<?x?x?xf64> to tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$image, AnyRankedTensor:$map);
  let assemblyFormat = [{
    $image `,` $map attr-dict `:` custom<ResponseTypes>(type($image), type($result))
  }];
}

#endif
