// What a stage after an image says of itself -*- tablegen -*.
#ifndef NB_RESPONSE
#define NB_RESPONSE

include "mlir/IR/OpBase.td"

def PointwiseResponse : OpInterface<"PointwiseResponse"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op that makes an image of an image, each pixel from the same pixel before it.
    `nb-fuse-response` writes it into the body of the `nb.image` that it follows, where it is
    differentiated, vectorized and lowered like everything else there.
  }];
  let methods = [
    InterfaceMethod<[{
      The image that the stage changes.
    }], "::mlir::Value", "getImage">,
    InterfaceMethod<[{
      The stage's value of one pixel, of the type of `pixel`, which is the pixel of `getImage()` at
      `indices` (panel, slow, fast). New ops go to the builder's insertion point.
    }], "::mlir::Value", "pixelValue",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$pixel, "::mlir::ValueRange":$indices)>
  ];
}

#endif
