// Stages that follow an image after its pixels are computed -*- tablegen -*.
#ifndef NB_RESPONSE_OPS
#define NB_RESPONSE_OPS

include "NBTypes.td"
include "DiffractionOps.td"
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

def NB_CountingLossOp : NB_PointwiseResponseOp<"counting_loss", [
    NB_PixelOf<"image", "dead_time">, NB_PixelOf<"image", "exposure">]> {
  let summary = "counts of a detector whose pixels are dead for a time after each photon";
  let description = [{
    `result[p][s][f] = N exp(-N dead_time / exposure)` with `N = image[p][s][f]` photons in the
    exposure, both times in s: a paralysable counter, in which each photon, counted or not, makes the
    pixel dead for `dead_time` (G. F. Knoll, Radiation Detection and Measurement, chapter 4). Counts
    are largest, `exposure / (e dead_time)`, at `exposure / dead_time` photons, and fall beyond. The
    result may have a smaller precision than the image.

    Constraints:
    * (C1) image and result are rank-3 tensors of unknown sizes, of f64 or f32

    Example:
    ```mlir
    %counts = nb.counting_loss %photons, %dead_time, %exposure : tensor<?x?x?xf64>
    %out = nb.counting_loss %photons, %dead_time, %exposure : tensor<?x?x?xf64> to tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$image, NB_Scalar:$dead_time, NB_Scalar:$exposure);
  let assemblyFormat = [{
    $image `,` $dead_time `,` $exposure attr-dict `:` custom<ResponseTypes>(type($image),
    type($result))
  }];
}

def NB_PointSpreadKind : NB_Enum<"PointSpreadKind", "how light spreads in a detector",
                                 [I32EnumAttrCase<"gauss", 0>, I32EnumAttrCase<"fiber", 1>]>;
def NB_PointSpreadKindAttr : NB_KeywordAttr<NB_PointSpreadKind, "point_spread_kind">;

def NB_PointSpreadOp : NB_PureOp<"point_spread", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<NeighbourResponse, ["apply", "transpose", "derivative"]>]> {
  let summary = "light spreads over the neighbours of its pixel";
  let description = [{
    `result[p][s][f] = sum over |i|, |j| <= radius of share(i, j) image[p][s - i][f - j]`, where an
    image is 0 beyond its edges. A share is the integral over the pixel (i, j) of `exp(-4 ln 2
    (r/w)^2) 4 ln 2 / (pi w^2)` (`gauss`) or `g / (2 pi) (g^2 + r^2)^(-3/2)` with `g =
    0.652383013252053 w` (`fiber`; J. M. Holton, C. Nielsen, K. A. Frankel, J. Synchrotron Rad. 19
    (2012) 1006), divided by the integral over the whole square. `w = fwhm / pixel_size` is the full
    width at half maximum in pixels.

    The op is linear in the image. Shares depend on distances alone, so the op is its own transpose.
    With `order` 1 or 2 the shares are replaced by their first or second derivatives with respect to
    `w`. The differential of the result is therefore the op applied to the change of the image, plus
    the op with `order = 1` times `(dfwhm - w dpixel_size) / pixel_size`.

    Pixels outside of `roi`, or whose mask is 0, are 0 in the result, as in `nb.image`. Their light in
    `image` still reaches other pixels. The result may have a smaller precision than the image.

    Constraints:
    * (C1) image and result are rank-3 tensors of unknown sizes, of f64 or f32
    * (C2) `roi` has four bounds: fast_min, fast_max, slow_min, slow_max
    * (C3) `mask` is a rank-3 tensor of i8
    * (C4) `order` is 0, 1 or 2

    Example:
    ```mlir
    %light = nb.point_spread gauss %photons, fwhm %w, pixel_size %p, radius %r : tensor<?x?x?xf64>
    %out = nb.point_spread fiber %photons, fwhm %w, pixel_size %p, radius %r roi(%f0, %f1, %s0, %s1)
        mask(%m : tensor<?x?x?xi8>) {order = 1 : i64} : tensor<?x?x?xf64> to tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins NB_PointSpreadKindAttr:$kind, AnyRankedTensor:$image, F64:$fwhm,
                       F64:$pixel_size, Index:$radius, Variadic<Index>:$roi,
                       Optional<AnyRankedTensor>:$mask,
                       DefaultValuedAttr<I64Attr, "0">:$order);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    `` $kind $image `,` `fwhm` $fwhm `,` `pixel_size` $pixel_size `,` `radius` $radius
    (`roi` `(` $roi^ `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict
    `:` custom<ResponseTypes>(type($image), type($result))
  }];
  let hasVerifier = 1;
}

#endif
