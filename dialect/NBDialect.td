//===- NBDialect.td - the nb dialect -----------------------*- tablegen -*-===//
#ifndef NB_DIALECT
#define NB_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NB_Dialect : Dialect {
  let name = "nb";
  let summary = "X-ray diffraction experiments, one sample at a time";
  let description = [{
    A program in this dialect computes a diffraction image. `nb.image` maps a body over pixels,
    `nb.sum` adds one sample per source, phi step, mosaic domain, sub-pixel and sensor layer, and
    the body of the sum reads like the physics of that one sample: where the pixel is, which way
    the beam comes, which Miller index the scattering vector hits, how strongly the crystal
    scatters there.

    Lengths are metres, angles radians, reciprocal lengths 1/m, structure factors electrons. All
    vectors live in one right-handed lab frame. Scalars, vectors and matrices are over `f64` or
    `f32`, or over a one-dimensional `vector` of those: *lanes*, one per pixel, which is what
    `nb-vectorize` makes of scalars.
  }];
  let cppNamespace = "::mlir::nb";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
  let dependentDialects = ["arith::ArithDialect", "vector::VectorDialect"];
}

class NB_Op<string mnemonic, list<Trait> traits = []> : Op<NB_Dialect, mnemonic, traits>;

/// An op that is a mathematical function of its operands.
class NB_PureOp<string mnemonic, list<Trait> traits = []>
    : NB_Op<mnemonic, !listconcat([Pure], traits)>;

#endif
