// The interface of stages after an image -*- tablegen -*.
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

def NeighbourResponse : OpInterface<"NeighbourResponse"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op that makes an image of an image, linear in it, each pixel from its neighbours too. Its
    operands of type f64 are numbers that the linear map depends on. `nb-differentiate` knows such an
    op by these methods alone.
  }];
  let methods = [
    InterfaceMethod<[{
      The image that the stage changes.
    }], "::mlir::Value", "getImage">,
    InterfaceMethod<[{
      The bounds of the pixels that the result has: fast_min, fast_max, slow_min, slow_max; none
      where it has all.
    }], "::mlir::OperandRange", "getRoi">,
    InterfaceMethod<[{
      Which pixels the result has; null where it has all.
    }], "::mlir::Value", "getMask">,
    InterfaceMethod<[{
      The same map of another image, with all pixels, in f64.
    }], "::mlir::Value", "apply", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$image)>,
    InterfaceMethod<[{
      Its transpose of another image.
    }], "::mlir::Value", "transpose", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$image)>,
    InterfaceMethod<[{
      The derivative of the result with all pixels with respect to an operand that is a number.
      There is none where `image` of the answer is null.
    }], "::mlir::nb::DerivativeByNumber", "derivative",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$number)>
  ];
}

#endif
