#include "lib/Compiler/DescribeKernel.h"

#include "lib/Experiment/Parameters.h"
#include "nanobragg/KernelABI.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace mlir::nb {

namespace {
/// Builds constants in the layout of the C structures.
class DescriptorBuilder {
public:
  explicit DescriptorBuilder(Module &module)
      : module(module), context(module.getContext()), pointer(PointerType::get(context, 0)),
        i32(llvm::IntegerType::get(context, 32)) {}

  Constant *text(StringRef value) {
    return constant(ConstantDataArray::getString(context, value), "text");
  }
  Constant *number(uint32_t value) { return ConstantInt::get(i32, value); }

  /// nb_kernel_parameter[]
  Constant *parameters(const nanobragg::Structure &structure, uint32_t &count) {
    auto *type = StructType::get(context, {pointer, i32, pointer});
    SmallVector<Constant *> entries;
    for (const nanobragg::Parameter *p : nanobragg::parametersOf(structure))
      entries.push_back(
          ConstantStruct::get(type, {text(p->name), number(p->kind), text(p->unit)}));
    count = entries.size();
    return constant(ConstantArray::get(ArrayType::get(type, entries.size()), entries),
                    "parameters");
  }

  Constant *entryPoint(StringRef name) {
    llvm::Function *function = module.getFunction(name);
    assert(function && "the kernel has its entry points");
    function->setLinkage(GlobalValue::InternalLinkage);
    return function;
  }

  Constant *constant(Constant *value, const char *name) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                              GlobalValue::PrivateLinkage, value, name);
  }

  Module &module;
  LLVMContext &context;
  llvm::Type *pointer, *i32;
};
} // namespace

void describeKernel(Module &module, const nanobragg::Structure &structure, StringRef target,
                    StringRef precision) {
  DescriptorBuilder b(module);
  uint32_t count = 0;
  Constant *parameters = b.parameters(structure, count);
  uint32_t imageType =
      structure.imageType == nanobragg::ImageType::F32 ? NB_IMAGE_F32 : NB_IMAGE_F64;
  // In the order of nb_kernel_descriptor's members.
  Constant *members[] = {b.number(NB_KERNEL_ABI_VERSION), b.number(imageType), b.text("image"),
                         b.text(structure.toString()),    b.text(target),      b.text(precision),
                         b.number(count),                 parameters,
                         b.entryPoint("image_workspace_size"),
                         b.entryPoint("image_prepare"),
                         b.entryPoint("image_run_tile")};
  Constant *descriptor = b.constant(ConstantStruct::getAnon(b.context, members), "descriptor");

  auto *getter = llvm::Function::Create(llvm::FunctionType::get(b.pointer, false),
                                        GlobalValue::ExternalLinkage, "nb_kernel_get_descriptor",
                                        module);
  llvm::IRBuilder<> builder(BasicBlock::Create(b.context, "", getter));
  builder.CreateRet(descriptor);
}

} // namespace mlir::nb
