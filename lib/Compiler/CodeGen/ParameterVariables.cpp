#include "lib/Compiler/CodeGen/ParameterVariables.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace {
/// The types of C that KernelABI.h names.
class Types {
public:
  explicit Types(DIBuilder &b)
      : f64(b.createBasicType("double", 64, dwarf::DW_ATE_float)),
        i64(b.createBasicType("int64_t", 64, dwarf::DW_ATE_signed)),
        byte(b.createBasicType("uint8_t", 8, dwarf::DW_ATE_unsigned)), vec3(array(b, 3)),
        mat3(array(b, 9)), f64s(pointer(b, f64)), vec3s(pointer(b, vec3)), bytes(pointer(b, byte)),
        memory(pointer(b, nullptr)) {}

  /// A single thing is read through its argument; an array's variable is a pointer.
  DIType *of(nb_parameter_kind kind, bool &isPointer) const {
    isPointer = true;
    switch (kind) {
    case NB_PARAMETER_F64:
      isPointer = false;
      return f64;
    case NB_PARAMETER_INDEX:
      isPointer = false;
      return i64;
    case NB_PARAMETER_VEC3:
      isPointer = false;
      return vec3;
    case NB_PARAMETER_MAT3:
      isPointer = false;
      return mat3;
    case NB_PARAMETER_TABLE_F64:
    case NB_PARAMETER_IMAGE:
      return f64s;
    case NB_PARAMETER_TABLE_VEC3:
      return vec3s;
    case NB_PARAMETER_MASK:
      return bytes;
    case NB_PARAMETER_HKL_GRID:
      return memory;
    }
    llvm_unreachable("all parameter kinds are listed");
  }

private:
  DIType *array(DIBuilder &b, int64_t count) {
    return b.createArrayType(uint64_t(count) * 64, 64, f64,
                             b.getOrCreateArray({b.getOrCreateSubrange(0, count)}));
  }
  static DIType *pointer(DIBuilder &b, DIType *to) { return b.createPointerType(to, 64); }

  DIType *f64, *i64, *byte, *vec3, *mat3, *f64s, *vec3s, *bytes, *memory;
};
} // namespace

void mlir::nb::describeParameters(Module &module, ArrayRef<KernelParameter> parameters) {
  for (Function &function : module) {
    DISubprogram *scope = function.getSubprogram();
    if (!scope || function.arg_empty() || !function.getArg(0)->getType()->isPointerTy())
      continue;
    DIBuilder b(module, /*AllowUnresolved=*/false, scope->getUnit());
    const Types types(b);
    const DILocation *begin = DILocation::get(module.getContext(), scope->getLine(), 1, scope);
    for (auto [i, parameter] : enumerate(parameters)) {
      bool isPointer;
      DIType *type = types.of(parameter.kind, isPointer);
      DILocalVariable *variable =
          b.createAutoVariable(scope, parameter.name, scope->getFile(), scope->getLine(), type);
      SmallVector<uint64_t> address{dwarf::DW_OP_plus_uconst, 8 * i, dwarf::DW_OP_deref};
      if (!isPointer)
        address.push_back(dwarf::DW_OP_deref);
      b.insertDbgValueIntrinsic(function.getArg(0), variable, b.createExpression(address), begin,
                                function.getEntryBlock().getFirstInsertionPt());
    }
    b.finalize();
  }
}
