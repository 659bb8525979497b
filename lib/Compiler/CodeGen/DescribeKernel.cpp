#include "lib/Compiler/CodeGen/DescribeKernel.h"

#include "lib/Experiment/ParameterShape.h"

#include "lib/Conversion/GPU/GPULaunch.h"
#include "lib/Experiment/ParameterShape.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace mlir::nb {

namespace {
/// Builds constants in the layout of the C structs.
class DescriptorBuilder {
public:
  explicit DescriptorBuilder(Module &module)
      : module(module), context(module.getContext()), pointer(PointerType::get(context, 0)),
        i32(llvm::IntegerType::get(context, 32)) {}

  GlobalVariable *text(StringRef value) {
    return constant(ConstantDataArray::getString(context, value), "text");
  }
  Constant *number(uint32_t value) { return ConstantInt::get(i32, value); }

  /// nb_kernel_parameter[] or nb_kernel_output[]
  template <typename Described>
  Constant *table(const std::vector<Described> &described, const char *name) {
    auto *type = StructType::get(context, {pointer, i32, pointer});
    SmallVector<Constant *> entries;
    for (const Described &d : described)
      entries.push_back(ConstantStruct::get(type, {text(d.name), number(d.kind), text(d.unit)}));
    return constant(ConstantArray::get(ArrayType::get(type, entries.size()), entries), name);
  }

  /// Null for an entry point that this kernel does not need.
  Constant *entryPoint(StringRef name) {
    llvm::Function *function = module.getFunction(name);
    if (!function)
      return Constant::getNullValue(pointer);
    function->setLinkage(GlobalValue::InternalLinkage);
    return function;
  }

  /// nb_device_kernel
  Constant *device(const KernelDescription &d) {
    if (d.codes.empty())
      return Constant::getNullValue(pointer);
    auto *i64 = llvm::IntegerType::get(context, 64);
    auto *type = StructType::get(context, {pointer, pointer, pointer, pointer, i64});
    SmallVector<Constant *> codes;
    for (const DeviceCode &code : d.codes) {
      GlobalVariable *bytes = constant(
          ConstantDataArray::getString(context, StringRef(code.bytes.data(), code.bytes.size())),
          "code");
      bytes->setAlignment(Align(8));
      codes.push_back(ConstantStruct::get(type, {text(code.chip), text(code.kind),
                                                 text(code.version), bytes,
                                                 ConstantInt::get(i64, code.bytes.size())}));
    }
    Constant *members[] = {text(d.function),
                           d.reduce.empty() ? Constant::getNullValue(pointer) : text(d.reduce),
                           number(uint32_t(nb::threadsOfBlock)), number(codes.size()),
                           constant(ConstantArray::get(ArrayType::get(type, codes.size()), codes),
                                    "codes")};
    return constant(ConstantStruct::getAnon(members), "device");
  }

  GlobalVariable *constant(Constant *value, const char *name) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                              GlobalValue::PrivateLinkage, value, name);
  }

  Module &module;
  LLVMContext &context;
  llvm::Type *pointer, *i32;
};
} // namespace

/// The descriptor `symbol`, which this module or another one defines. Hidden: no other object sees
/// it.
static GlobalVariable *descriptorNamed(Module &module, llvm::Type *type, StringRef symbol) {
  if (GlobalVariable *declared = module.getGlobalVariable(symbol))
    return declared;
  auto *declared = new GlobalVariable(module, type, /*isConstant=*/true,
                                      GlobalValue::ExternalLinkage, nullptr, symbol);
  declared->setVisibility(GlobalValue::HiddenVisibility);
  return declared;
}

/// The lines of NB_KERNEL_TEXT_SECTION.
static std::string textOf(const KernelDescription &d) {
  std::string text;
  auto line = [&](const Twine &words) { text += (words + "\n").str(); };
  line("kernel " + d.function);
  line("abi " + Twine(NB_KERNEL_ABI_VERSION));
  line("target " + d.target);
  line("features " + d.features);
  line("precision " + d.precision);
  line(Twine("image ") + (d.imageType == NB_IMAGE_F32 ? "f32" : "f64"));
  line("variant " + d.variant);
  line("build nanobragg-mlir " NB_VERSION ", LLVM " LLVM_VERSION_STRING);
  for (const KernelParameter &p : d.parameters)
    line("parameter " + p.name + " " + nanobragg::kindText(p.kind) + " " + p.unit);
  for (const KernelOutput &o : d.outputs)
    line("output " + o.name + " " + nanobragg::kindText(o.kind) + " " + o.unit);
  for (const DeviceCode &c : d.codes)
    line("code " + c.chip + " " + c.kind + " " + c.version + " " + Twine(c.bytes.size()));
  return text;
}

void describeKernel(Module &module, const KernelDescription &d, StringRef symbol,
                    StringRef alternative) {
  DescriptorBuilder b(module);
  GlobalVariable *text = b.text(textOf(d));
  text->setSection(NB_KERNEL_TEXT_SECTION);
  text->setAlignment(Align(1));
  appendToUsed(module, {text});
  SmallVector<llvm::Type *> types(20, b.pointer);
  for (unsigned i : {0, 1, 6, 8})
    types[i] = b.i32;
  auto *type = StructType::get(b.context, types);
  Constant *next = alternative.empty() ? Constant::getNullValue(b.pointer)
                                       : descriptorNamed(module, type, alternative);
  // In the order of nb_kernel_descriptor's members.
  Constant *members[] = {b.number(NB_KERNEL_ABI_VERSION),
                         b.number(d.imageType),
                         b.text(d.function),
                         b.text(d.variant),
                         b.text(d.target),
                         b.text(d.precision),
                         b.number(d.parameters.size()),
                         b.table(d.parameters, "parameters"),
                         b.number(d.outputs.size()),
                         b.table(d.outputs, "outputs"),
                         b.entryPoint(d.function + "_workspace_size"),
                         b.entryPoint(d.function + "_prepare"),
                         b.entryPoint(d.function + "_run_tile"),
                         b.entryPoint(d.function + "_accumulator_size"),
                         b.entryPoint(d.function + "_scratch_size"),
                         b.entryPoint(d.function + "_finish"),
                         b.entryPoint(d.function + "_output_sizes"),
                         b.text(d.features),
                         next,
                         b.device(d)};
  descriptorNamed(module, type, symbol)->setInitializer(ConstantStruct::get(type, members));
}

void defineGetter(Module &module, StringRef name, StringRef symbol) {
  DescriptorBuilder b(module);
  auto *getter = llvm::Function::Create(llvm::FunctionType::get(b.pointer, false),
                                        GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(BasicBlock::Create(b.context, "", getter));
  builder.CreateRet(descriptorNamed(module, b.i32, symbol));
}

} // namespace mlir::nb
