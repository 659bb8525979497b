// Types of the nb dialect ----------------*- tablegen -*.
#ifndef NB_TYPES
#define NB_TYPES

include "NBDialect.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class NB_Type<string name, string mnemonic_, list<Trait> traits = []>
    : TypeDef<NB_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def NB_Vec3Type : NB_Type<"Vec3", "vec3"> {
  let summary = "a vector of three components x, y, z in the lab frame";
  let description = [{
    The element is `f64`, `f32`, or a one-dimensional fixed-size `vector` of either, which holds
    one value per lane.

    Example: `!nb.vec3<f64>`, `!nb.vec3<vector<8xf64>>`.
  }];
  let parameters = (ins "Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "Type":$elementType), [{
    return $_get(elementType.getContext(), elementType);
  }]>];
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def NB_Mat3Type : NB_Type<"Mat3", "mat3"> {
  let summary = "a 3 x 3 matrix";
  let description = [{
    Elements as in `!nb.vec3`. Rotations act on column vectors from the left; a reciprocal basis
    has a*, b*, c* as its columns, a direct basis has a, b, c as its rows.

    Example: `!nb.mat3<f64>`.
  }];
  let parameters = (ins "Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "Type":$elementType), [{
    return $_get(elementType.getContext(), elementType);
  }]>];
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def NB_HklGridType : NB_Type<"HklGrid", "hkl_grid"> {
  let summary = "structure factors on a dense box of Miller indices";
  let description = [{
    Inclusive bounds for h, k and l (known when the program runs) and one value for each index in
    the box, l fastest. Values are `f64` or `f32`, in electrons.

    Example: `!nb.hkl_grid<f64>`.
  }];
  let parameters = (ins "FloatType":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "FloatType":$elementType), [{
    return $_get(elementType.getContext(), elementType);
  }]>];
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def NB_TableType : NB_Type<"Table", "table"> {
  let summary = "values indexed by one or more loop dimensions";
  let description = [{
    An argument such as the weights of all sources, or what `nb.tabulate` computed ahead of the
    loops. Sizes are known when the program runs. Elements are float scalars, `index`, `i1`,
    `!nb.vec3` or `!nb.mat3` of float scalars.

    Example: `!nb.table<?xf64>`, `!nb.table<?x?x!nb.mat3<f64>>`.
  }];
  let parameters = (ins "unsigned":$rank, "Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "unsigned":$rank, "Type":$elementType), [{
    return $_get(elementType.getContext(), rank, elementType);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// Constraints shared by the op families.

def NB_Scalar : Type<CPred<"::mlir::nb::isScalarOrLanes($_self)">,
                     "f64, f32 or lanes of either">;
def NB_Vec3 : Type<CPred<"::llvm::isa<::mlir::nb::Vec3Type>($_self)">, "!nb.vec3">;
def NB_Mat3 : Type<CPred<"::llvm::isa<::mlir::nb::Mat3Type>($_self)">, "!nb.mat3">;
def NB_HklGrid : Type<CPred<"::llvm::isa<::mlir::nb::HklGridType>($_self)">, "!nb.hkl_grid">;
def NB_Table : Type<CPred<"::llvm::isa<::mlir::nb::TableType>($_self)">, "!nb.table">;
def NB_Geometric : AnyTypeOf<[NB_Scalar, NB_Vec3, NB_Mat3],
                             "a float scalar, !nb.vec3 or !nb.mat3">;
def NB_Summand : AnyTypeOf<[NB_Scalar, NB_Vec3, NB_Mat3, NB_Table, NB_HklGrid],
                           "what can be added up: a float scalar, !nb.vec3, !nb.mat3, !nb.table "
                           "or !nb.hkl_grid">;
def NB_Condition : Type<CPred<"::mlir::nb::isConditionOrLanes($_self)">, "i1 or lanes of i1">;
def NB_IndexLike : Type<CPred<"::mlir::nb::isIndexOrLanes($_self)">, "index or lanes of index">;

/// The scalar operand or result `s` has the element type of `v`.
class NB_ElementOf<string v, string s>
    : TypesMatchWith<"'" # s # "' has the element type of '" # v # "'", v, s,
                     "::mlir::nb::elementTypeOf($_self)">;
/// `v` is the !nb.vec3 over the element type of `x`.
class NB_VecOf<string x, string v>
    : TypesMatchWith<"'" # v # "' is the !nb.vec3 over the element type of '" # x # "'", x, v,
                     "::mlir::nb::Vec3Type::get(::mlir::nb::elementTypeOf($_self))">;
/// `m` is the !nb.mat3 over the element type of `x`.
class NB_MatOf<string x, string m>
    : TypesMatchWith<"'" # m # "' is the !nb.mat3 over the element type of '" # x # "'", x, m,
                     "::mlir::nb::Mat3Type::get(::mlir::nb::elementTypeOf($_self))">;
/// The condition `c` has as many lanes as `x`.
class NB_ConditionOf<string x, string c>
    : TypesMatchWith<"'" # c # "' has as many lanes as '" # x # "'", x, c,
                     "::mlir::nb::conditionTypeFor($_self)">;

#endif
