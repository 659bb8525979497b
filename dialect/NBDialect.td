// The nb dialect -----------------------*- tablegen -*.
#ifndef NB_DIALECT
#define NB_DIALECT

include "Derivatives.td"
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
    A program in this dialect computes a diffraction image. `nb.image` maps a body over pixels.
    `nb.sum` adds one sample per source, phi step, mosaic domain, sub-pixel and sensor layer. The
    body of the sum reads like the physics of that one sample: where the pixel is, which way the
    beam comes, which Miller index the scattering vector hits, how strongly the crystal scatters
    there.

    Lengths are metres, angles radians, reciprocal lengths 1/m, structure factors electrons. All
    vectors are in one right-handed lab frame. Scalars, and the elements of vectors and matrices,
    are `f64` or `f32`. `nb-vectorize` replaces them by one-dimensional `vector`s of these types,
    whose entries are called *lanes*, one for each of several pixels.

    Floating point. Ops of this dialect are physics, over finite numbers: a pass may reorder, factor
    and approximate them to the last digits. `nb.sum` and `nb.image` add their terms in any order.
    Ops of arith and math follow IEEE 754, in their order, including infinities and NaN, unless
    their fast-math flags allow more:
    * `reassoc` `nnan` `ninf`, all three: `nb-factor-sums` takes a factor out of a sum
    * `reassoc` `contract`: if a term of a sum is itself a sum, its parts are added one by one
    * `arcp`: `nb-vectorize` multiplies by the reciprocal of a divisor that all lanes share
    * `afn`: `convert-nb-to-arith` computes sin, cos, exp and rsqrt without the math library,
      accurate to a few ulp for normal numbers, angles up to a few thousand turns, and exponentials
      between 1e-307 and 1e307 (in f32 1e-18 and 1e38); smaller exponentials are 0
    * `contract`: LLVM fuses a product and a sum; no other flag reaches LLVM

    The frontend writes `fastmath<fast>`, and so do rules of derivatives of ops of this dialect. A
    derivative of an op of arith or math has the flags of that op. On request, `nb-set-precision`,
    `nb-close-averages` and `nb-cull` change numbers by more than rounding.

    Passes mark their results for later passes by attributes, whose places the dialect verifies:
    * `nb.name`, `nb.unit`: texts on arguments and results of functions; a name is given once
    * `nb.fixed`: on an argument of a function, the count that `nb-fix-counts` compiled in for it
    * `nb.loop`: `#nb.dim<panel>`, `#nb.dim<slow>` or `#nb.dim<fast>` on a loop that
      `convert-nb-to-loops` made of an image
    * `nb.accumulator`, `nb.scratch`: on memory in which sums over pixels are accumulated
    * `nb.scattered`: on a `memref.atomic_rmw` to such memory, whose address differs from pixel to
      pixel
    * `nb.guard`: on an `arith.select` that makes a lookup read entry 0 if the branch that it was in
      is not taken (`nb-remove-branches`)
    * `nb.kernel`: on the entry point that renders a tile, the function's signature
  }];
  let cppNamespace = "::mlir::nb";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // The attributes of Names.h.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
  let dependentDialects = ["arith::ArithDialect", "math::MathDialect", "vector::VectorDialect"];
}

class NB_Op<string mnemonic, list<Trait> traits = []> : Op<NB_Dialect, mnemonic, traits>;

/// An op that is a mathematical function of its operands.
class NB_PureOp<string mnemonic, list<Trait> traits = []>
    : NB_Op<mnemonic, !listconcat([Pure], traits)>;

/// The traits of an op that reads or writes an entry which its operands name: without effects, but
/// undefined where there is no such entry. It runs where the program does not run it only if
/// `getSpeculatability` can tell that the entry is there.
defvar NB_EntryTraits = [NoMemoryEffect, DeclareOpInterfaceMethods<ConditionallySpeculatable>];

/// An op that is differentiated by a table of rules, one for each operand, in the order of the
/// operands. An optional operand at the end may be absent; variadic operands have one rule.
class NB_DifferentiableOp<string mnemonic, list<Trait> traits = [], list<Trait> purity = [Pure]>
    : NB_Op<mnemonic, !listconcat(purity, [DeclareOpInterfaceMethods<DifferentiableOp>], traits)> {
  list<NB_Rule> rules = [];

  string operandNames = !interleave(!foreach(i, !range(!size(rules)),
      "      [[maybe_unused]] ::mlir::Value " # rules[i].operand # " = operandOr(op, " # i
      # ");\n"), "");
  list<string> labels = !foreach(i, !range(!size(rules)),
      !if(!eq(i, !sub(!size(rules), 1)), "default", "case " # i));
  string tangents = !interleave(!foreach(i, !range(!size(rules)),
      "      " # labels[i] # ": return " # rules[i].tangent # ";\n"), "");
  string adjoints = !interleave(!foreach(i, !range(!size(rules)),
      "      " # labels[i] # ": return " # rules[i].adjoint # ";\n"), "");

  string ruleBegin = "  struct Rule : RuleBuilder {\n"
      # "    ::mlir::Value of($cppClass op, unsigned operand, ::mlir::Value ";
  string ruleOperands = ") {\n" # operandNames
      # "      [[maybe_unused]] ::mlir::Value result = op.getResult();\n"
      # "      switch (operand) {\n";
  string ruleEnd = "      }\n    }\n  };\n"
      # "  return Rule{{builder, getLoc()}}.of(*this, operand, ";
  let extraClassDefinition =
      "::mlir::Value $cppClass::tangent(::mlir::OpBuilder &builder, unsigned operand, "
      # "::mlir::Value tangent) {\n" # ruleBegin # "t" # ruleOperands # tangents # ruleEnd
      # "tangent);\n}\n"
      # "::mlir::Value $cppClass::adjoint(::mlir::OpBuilder &builder, unsigned operand, "
      # "::mlir::Value adjoint) {\n" # ruleBegin # "g" # ruleOperands # adjoints # ruleEnd
      # "adjoint);\n}\n";
}

/// An op that is differentiated by writing its formula with simpler ops, in C++.
class NB_ExpandableOp<string mnemonic, list<Trait> traits = []>
    : NB_PureOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<ExpandableOp>], traits)>;

#endif
