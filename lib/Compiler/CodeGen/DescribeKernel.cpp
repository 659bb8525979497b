#include "lib/Compiler/CodeGen/DescribeKernel.h"

#include "dialect/Names.h"
#include "lib/Conversion/KernelLayout.h"
#include "lib/Program/ParameterShape.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace mlir::nb {

namespace {
/// A constant of a C struct, which is given member by member, by name.
class Record {
public:
  Record(Module &module, size_t size) : module(module), size(size) {}

  void set(size_t offset, Constant *value) { members.push_back({offset, value}); }

  Constant *get() {
    llvm::sort(members, [](const auto &a, const auto &b) { return a.first < b.first; });
    SmallVector<Constant *> values;
    for (auto &[offset, value] : members)
      values.push_back(value);
    Constant *result = ConstantStruct::getAnon(module.getContext(), values);
    const StructLayout *layout =
        module.getDataLayout().getStructLayout(cast<StructType>(result->getType()));
    bool same = layout->getSizeInBytes() == size;
    for (auto [i, member] : llvm::enumerate(members))
      same = same && layout->getElementOffset(i) == member.first;
    if (!same)
      report_fatal_error("a struct of KernelABI.h has a member that its description lacks");
    return result;
  }

private:
  Module &module;
  size_t size;
  SmallVector<std::pair<size_t, Constant *>> members;
};

/// By name, whatever the order; an integer of 32 bits is not a pointer.
#define NB_SET(record, structure, member, value)                                                   \
  do {                                                                                             \
    static_assert(sizeof(structure::member) == sizeof(void *) ||                                   \
                  sizeof(structure::member) == sizeof(uint32_t));                                  \
    record.set(offsetof(structure, member), value);                                                \
  } while (false)

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

  Constant *null() { return Constant::getNullValue(pointer); }

  /// nb_kernel_parameter[] or nb_kernel_output[]
  template <typename Entry, typename Described>
  Constant *table(const std::vector<Described> &described, const char *name) {
    SmallVector<Constant *> entries;
    for (const Described &d : described) {
      Record entry(module, sizeof(Entry));
      NB_SET(entry, Entry, name, text(d.name));
      NB_SET(entry, Entry, kind, number(d.kind));
      NB_SET(entry, Entry, unit, text(d.unit));
      entries.push_back(entry.get());
    }
    return array(entries, name);
  }

  Constant *array(ArrayRef<Constant *> entries, const char *name) {
    if (entries.empty())
      return null();
    auto *type = ArrayType::get(entries.front()->getType(), entries.size());
    return constant(ConstantArray::get(type, entries), name);
  }

  /// Null for an entry point that this kernel does not need.
  Constant *entryPoint(StringRef kernel, StringRef suffix) {
    llvm::Function *function = module.getFunction((kernel + suffix).str());
    if (!function)
      return null();
    function->setLinkage(GlobalValue::InternalLinkage);
    return function;
  }

  /// nb_device_kernel
  Constant *device(const KernelDescription &d) {
    if (d.codes.empty())
      return null();
    auto *i64 = llvm::IntegerType::get(context, 64);
    SmallVector<Constant *> codes;
    for (const DeviceCode &code : d.codes) {
      GlobalVariable *bytes = constant(
          ConstantDataArray::getString(context, StringRef(code.bytes.data(), code.bytes.size())),
          "code");
      bytes->setAlignment(Align(8));
      Record record(module, sizeof(nb_device_code));
      NB_SET(record, nb_device_code, chip, text(code.chip));
      NB_SET(record, nb_device_code, kind, text(code.kind));
      NB_SET(record, nb_device_code, version, text(code.version));
      NB_SET(record, nb_device_code, bytes, bytes);
      NB_SET(record, nb_device_code, size, ConstantInt::get(i64, code.bytes.size()));
      codes.push_back(record.get());
    }
    Record kernel(module, sizeof(nb_device_kernel));
    NB_SET(kernel, nb_device_kernel, entry, text(d.function));
    NB_SET(kernel, nb_device_kernel, reduce, d.reduce.empty() ? null() : text(d.reduce));
    NB_SET(kernel, nb_device_kernel, threads, number(d.threads));
    NB_SET(kernel, nb_device_kernel, warp, number(d.warp));
    NB_SET(kernel, nb_device_kernel, num_codes, number(codes.size()));
    NB_SET(kernel, nb_device_kernel, codes, array(codes, "codes"));
    return constant(kernel.get(), "device");
  }

  /// The descriptor `symbol`, which this module or another one defines. Hidden: no other object
  /// sees it.
  GlobalVariable *descriptorNamed(StringRef symbol, llvm::Type *type = nullptr) {
    if (GlobalVariable *declared = module.getGlobalVariable(symbol))
      return declared;
    auto *declared = new GlobalVariable(module, type ? type : i32, /*isConstant=*/true,
                                        GlobalValue::ExternalLinkage, nullptr, symbol);
    declared->setVisibility(GlobalValue::HiddenVisibility);
    return declared;
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
  using D = nb_kernel_descriptor;
  Record r(module, sizeof(D));
  NB_SET(r, D, abi_version, b.number(NB_KERNEL_ABI_VERSION));
  NB_SET(r, D, size, b.number(sizeof(D)));
  NB_SET(r, D, image_type, b.number(d.imageType));
  NB_SET(r, D, name, b.text(d.function));
  NB_SET(r, D, variant, b.text(d.variant));
  NB_SET(r, D, target, b.text(d.target));
  NB_SET(r, D, precision, b.text(d.precision));
  NB_SET(r, D, num_parameters, b.number(d.parameters.size()));
  NB_SET(r, D, parameters, b.table<nb_kernel_parameter>(d.parameters, "parameters"));
  NB_SET(r, D, num_outputs, b.number(d.outputs.size()));
  NB_SET(r, D, outputs, b.table<nb_kernel_output>(d.outputs, "outputs"));
  NB_SET(r, D, workspace_size, b.entryPoint(d.function, nb::names::workspaceSize));
  NB_SET(r, D, prepare, b.entryPoint(d.function, nb::names::prepare));
  NB_SET(r, D, run_tile, b.entryPoint(d.function, nb::names::runTile));
  NB_SET(r, D, accumulator_size, b.entryPoint(d.function, nb::names::accumulatorSize));
  NB_SET(r, D, scratch_size, b.entryPoint(d.function, nb::names::scratchSize));
  NB_SET(r, D, finish, b.entryPoint(d.function, nb::names::finish));
  NB_SET(r, D, output_sizes, b.entryPoint(d.function, nb::names::outputSizes));
  NB_SET(r, D, features, b.text(d.features));
  NB_SET(r, D, alternative, alternative.empty() ? b.null() : b.descriptorNamed(alternative));
  NB_SET(r, D, device, b.device(d));
  const bool reaches = d.reaches;
  NB_SET(
      r, D, needs,
      ConstantInt::get(llvm::IntegerType::get(b.context, 64), reaches ? NB_KERNEL_NEEDS_LIT : 0));
  NB_SET(r, D, reach, b.entryPoint(d.function, nb::names::reach));
  NB_SET(r, D, reach_numbers_size, b.number(reaches ? sizeof(nb_reach_numbers) : 0));
  NB_SET(r, D, reach_tables_size, b.number(reaches ? sizeof(nb_reach_tables) : 0));
  Constant *descriptor = r.get();
  b.descriptorNamed(symbol, descriptor->getType())->setInitializer(descriptor);
}

void defineGetter(Module &module, StringRef name, StringRef symbol) {
  DescriptorBuilder b(module);
  auto *getter = llvm::Function::Create(llvm::FunctionType::get(b.pointer, false),
                                        GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(BasicBlock::Create(b.context, "", getter));
  builder.CreateRet(b.descriptorNamed(symbol));
}

} // namespace mlir::nb
