#include "lib/Compiler/CodeGen/BuildGpuKernel.h"
#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/CodeGen/LinkKernel.h"

#include "llvm/Linker/Linker.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

namespace {
/// A kernel for several processors of one architecture: one compilation each, the best first.
class KernelVersions {
public:
  explicit KernelVersions(nanobragg::KernelSpecification made) : made(std::move(made)) {}

  llvm::Error start(const CompileOptions &options, StartCompilation start);
  /// Everything in one module, which only shows `getter`.
  llvm::Error lower(StringRef getter);
  Compilation &result() { return *versions.back(); }

private:
  static std::string symbolOf(size_t version) {
    return "nb_kernel_version_" + std::to_string(version);
  }

  nanobragg::KernelSpecification made; ///< but for counts that are compiled in
  std::vector<std::unique_ptr<Compilation>> versions;
};
} // namespace

llvm::Error KernelVersions::start(const CompileOptions &options, StartCompilation startOne) {
  auto context = std::make_shared<llvm::LLVMContext>();
  for (const nanobragg::KernelTarget &target : options.targets()) {
    CompileOptions one = options;
    one.target = target;
    one.otherTargets.clear();
    auto started = startOne(one, context);
    if (!started)
      return started.takeError();
    if (!versions.empty() && (*started)->target.triple != versions.front()->target.triple)
      return createStringError("the targets " + options.targetText() +
                               " are of several architectures, which no file can hold: make a "
                               "file for each");
    versions.push_back(std::move(*started));
  }
  llvm::sort(versions, [](const auto &a, const auto &b) {
    return StringRef(a->features()).count(' ') > StringRef(b->features()).count(' ');
  });
  return llvm::Error::success();
}

llvm::Error KernelVersions::lower(StringRef getter) {
  for (auto [i, version] : llvm::enumerate(versions)) {
    const bool last = i + 1 == versions.size();
    auto describe = [&](llvm::Module &module) {
      KernelDescription description = version->description;
      made.fixed = description.fixed;
      description.variant = made.toString();
      describeKernel(module, description, symbolOf(i), last ? "" : symbolOf(i + 1));
      // In the version that the least processor can run.
      if (last)
        defineGetter(module, getter, symbolOf(0));
    };
    if (auto error = version->lower(/*fused=*/false, describe))
      return error;
  }
  llvm::Module &module = *result().module;
  for (auto &version : llvm::drop_end(versions))
    if (llvm::Linker::linkModules(module, std::move(version->module)))
      return createStringError("the versions of the kernel cannot be linked, which is a bug");
  for (size_t i = 0; i != versions.size(); ++i) {
    llvm::GlobalVariable *descriptor = module.getGlobalVariable(symbolOf(i));
    descriptor->setVisibility(llvm::GlobalValue::DefaultVisibility);
    descriptor->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  return llvm::Error::success();
}

Expected<std::string> nb::getterOf(const CompileOptions &options, StringRef kind) {
  if (kind != "so" && kind != "obj")
    return createStringError("unknown kind of kernel file '" + kind.str() +
                             "': expected so or obj, or of one GPU cubin, hsaco or spirv");
  if (kind == "so" && !options.symbol.empty())
    return createStringError("a shared object is found by nb_kernel_get_descriptor, which cannot "
                             "be called '" +
                             options.symbol + "': make an object");
  return options.symbol.empty() ? "nb_kernel_get_descriptor" : options.symbol;
}

static Expected<llvm::SmallVector<char, 0>> build(KernelVersions &versions,
                                                  const CompileOptions &options, StringRef kind) {
  auto getter = getterOf(options, kind);
  if (!getter)
    return getter.takeError();
  if (auto error = versions.lower(*getter))
    return error;
  auto object = versions.result().code(llvm::CodeGenFileType::ObjectFile);
  if (!object || kind == "obj")
    return object;
  return linkSharedObject(*object);
}

/// Are the targets chips of GPUs, and no processors?
static Expected<bool> areChips(const CompileOptions &options) {
  const auto targets = options.targets();
  const auto chips = llvm::count_if(
      targets, [](const nanobragg::KernelTarget &target) { return target.vendor(); });
  if (chips && size_t(chips) != targets.size())
    return createStringError("the targets " + options.targetText() +
                             " are GPUs and processors, which no file can hold together: make one "
                             "file for the GPUs and one for the processors");
  return chips != 0;
}

Expected<llvm::SmallVector<char, 0>> nb::buildKernel(const nanobragg::ProgramVariant &variant,
                                                     const CompileOptions &options,
                                                     StringRef kind) {
  const nanobragg::KernelSpecification made{variant, options.derivative, {}, options.cull};
  auto start = [&](const CompileOptions &one, Compilation::ModuleContext context) {
    return Compilation::start(variant, one, std::move(context));
  };
  auto chips = areChips(options);
  if (!chips)
    return chips.takeError();
  if (*chips)
    return buildGpuKernel(start, made, options, kind);
  KernelVersions versions(made);
  if (auto error = versions.start(options, start))
    return error;
  return build(versions, options, kind);
}

Expected<llvm::SmallVector<char, 0>>
nb::buildKernel(ModuleOp program, const CompileOptions &options, StringRef kind) {
  auto start = [&](const CompileOptions &one, Compilation::ModuleContext context) {
    return Compilation::start(program, one, std::move(context));
  };
  auto chips = areChips(options);
  if (!chips)
    return chips.takeError();
  if (*chips)
    return buildGpuKernel(start, {}, options, kind);
  KernelVersions versions{nanobragg::KernelSpecification()};
  if (auto error = versions.start(options, start))
    return error;
  return build(versions, options, kind);
}
