#include "lib/Compiler/CodeGen/BuildGpuKernel.h"

#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/Assemble.h"
#include "lib/Compiler/CodeGen/DeviceRegisters.h"
#include "lib/Compiler/CodeGen/LinkKernel.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;
using llvm::SmallVector;

namespace {
/// One program for several chips and the host; what is said about experiments is compiled once.
class GpuKernel {
public:
  GpuKernel(const CompileOptions &options) : options(options) {}

  llvm::Error start(StartCompilation start);
  llvm::Error compileFor(const nanobragg::KernelTarget &target, const Assembler &assembler,
                         bool newest);
  Expected<SmallVector<char, 0>> link(StringRef kind, nanobragg::KernelSpecification made);

  /// The chip's own code, and what its driver compiles.
  std::vector<DeviceCode> machineCodes, texts;

private:
  Expected<std::unique_ptr<Compilation>> compilationFor(const nanobragg::KernelTarget &target,
                                                        StringRef folder);
  llvm::Error addPtx(Compilation &c, const std::string &chip, const Assembler &assembler,
                     bool newest);
  llvm::Error addSpirv(Compilation &c, const std::string &chip);
  llvm::Error addHsaco(Compilation &c, const std::string &chip);

  const CompileOptions &options;
  std::unique_ptr<Compilation> fused;
  std::string reduce;
  unsigned threads = 0;
};
} // namespace

/// The version of the language, as the text itself says.
static std::string versionOf(ArrayRef<char> ptx) {
  StringRef rest = StringRef(ptx.data(), ptx.size()).split(".version ").second;
  return rest.take_until([](char c) { return isspace(c); }).str();
}

/// "1.4", from the second word of the module.
static std::string versionOfSpirv(ArrayRef<char> code) {
  return code.size() < 8 ? "" : std::to_string(code[6]) + "." + std::to_string(code[5]);
}

/// The language of a chip's own code alone, where that is what is asked for.
static std::optional<nanobragg::GpuLanguage> languageOf(StringRef kind) {
  using Language = std::optional<nanobragg::GpuLanguage>;
  return llvm::StringSwitch<Language>(kind)
      .Case("cubin", nanobragg::GpuLanguage::PTX)
      .Case("spirv", nanobragg::GpuLanguage::SPIRV)
      .Case("hsaco", nanobragg::GpuLanguage::HSACO)
      .Default(std::nullopt);
}

llvm::Error GpuKernel::start(StartCompilation start) {
  CompileOptions host = options;
  host.target = {.kind = nanobragg::KernelTarget::Kind::HostOfGpu};
  host.otherTargets.clear();
  auto started = start(host, nullptr);
  if (!started)
    return started.takeError();
  fused = std::move(*started);
  if (auto error = fused->fuse())
    return error;
  fused->tellPasses();
  return llvm::Error::success();
}

Expected<std::unique_ptr<Compilation>>
GpuKernel::compilationFor(const nanobragg::KernelTarget &target, StringRef folder) {
  CompileOptions one = options;
  one.target = target;
  one.otherTargets.clear();
  // Done.
  one.fixed.clear();
  one.derivative = {};
  one.passes.pipeline.clear();
  one.passes.patterns.clear();
  if (!one.dumpIR.empty()) {
    one.dumpIR = dumpFolderOf(options) + ("/" + folder).str();
    one.dumpedFrom = "../" + fused->lastDump();
  }
  auto compilation = Compilation::start(fused->get(), one);
  if (compilation)
    (*compilation)->takeLines(*fused);
  return compilation;
}

llvm::Error GpuKernel::compileFor(const nanobragg::KernelTarget &target, const Assembler &assembler,
                                  bool newest) {
  const std::string &chip = target.name;
  auto compilation = compilationFor(target, chip);
  if (!compilation)
    return compilation.takeError();
  Compilation &c = **compilation;
  if (auto error = c.lower(/*fused=*/true))
    return error;
  const std::string name = c.description.function + names::reduce.str();
  if (c.module->getFunction(name))
    reduce = name;
  threads = threadsOfBlock(*c.module->getFunction(c.description.function));
  switch (target.vendor()->language) {
  case nanobragg::GpuLanguage::PTX:
    return addPtx(c, chip, assembler, newest);
  case nanobragg::GpuLanguage::SPIRV:
    return addSpirv(c, chip);
  case nanobragg::GpuLanguage::HSACO:
    return addHsaco(c, chip);
  }
  llvm_unreachable("unknown language");
}

llvm::Error GpuKernel::addSpirv(Compilation &c, const std::string &chip) {
  auto code = c.code(llvm::CodeGenFileType::ObjectFile);
  if (!code)
    return code.takeError();
  texts.push_back({chip, "spirv", versionOfSpirv(*code), std::move(*code)});
  return llvm::Error::success();
}

llvm::Error GpuKernel::addHsaco(Compilation &c, const std::string &chip) {
  auto object = c.code(llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  auto code = linkSharedObject(*object);
  if (!code)
    return code.takeError();
  machineCodes.push_back({chip, "hsaco", LLVM_VERSION_STRING, std::move(*code)});
  return llvm::Error::success();
}

llvm::Error GpuKernel::addPtx(Compilation &c, const std::string &chip, const Assembler &assembler,
                              bool newest) {
  auto ptx = c.code(llvm::CodeGenFileType::AssemblyFile);
  if (!ptx)
    return ptx.takeError();
  if (assembler) {
    auto cubin = assembler.assemble(*ptx, chip);
    if (!cubin)
      return cubin.takeError();
    machineCodes.push_back({chip, "cubin", assembler.version(), std::move(*cubin)});
  }
  if (!assembler || newest) {
    std::string version = versionOf(*ptx);
    texts.push_back({chip, "ptx", std::move(version), std::move(*ptx)});
  }
  return llvm::Error::success();
}

Expected<SmallVector<char, 0>> GpuKernel::link(StringRef kind,
                                               nanobragg::KernelSpecification made) {
  auto getter = getterOf(options, kind);
  if (!getter)
    return getter.takeError();
  auto compilation = compilationFor({.kind = nanobragg::KernelTarget::Kind::HostOfGpu}, "host");
  if (!compilation)
    return compilation.takeError();
  Compilation &host = **compilation;
  auto describe = [&](llvm::Module &module) {
    KernelDescription description = host.description;
    made.fixed = description.fixed;
    description.variant = made.toString();
    description.target += " " + options.targetText();
    description.threads = threads;
    description.warp = unsigned(options.target.threadsOfWarp());
    description.reduce = reduce;
    for (std::vector<DeviceCode> *codes : {&machineCodes, &texts})
      for (DeviceCode &code : *codes)
        description.codes.push_back(std::move(code));
    describeKernel(module, description, "nb_kernel", "");
    defineGetter(module, *getter, "nb_kernel");
    llvm::GlobalVariable *descriptor = module.getGlobalVariable("nb_kernel");
    descriptor->setVisibility(llvm::GlobalValue::DefaultVisibility);
    descriptor->setLinkage(llvm::GlobalValue::InternalLinkage);
  };
  if (auto error = host.lower(/*fused=*/true, describe))
    return error;
  auto object = host.code(llvm::CodeGenFileType::ObjectFile);
  if (!object || kind == "obj")
    return object;
  return linkSharedObject(*object);
}

Expected<SmallVector<char, 0>> nb::buildGpuKernel(StartCompilation start,
                                                  nanobragg::KernelSpecification made,
                                                  const CompileOptions &options, StringRef kind) {
  std::vector<nanobragg::KernelTarget> chips = options.targets();
  llvm::stable_sort(chips, [](const auto &a, const auto &b) {
    return nanobragg::numberOfChip(a.name) > nanobragg::numberOfChip(b.name);
  });
  chips.erase(llvm::unique(chips), chips.end());
  for (const nanobragg::KernelTarget &chip : chips)
    if (chip.threadsOfWarp() != chips.front().threadsOfWarp())
      return createStringError(
          "of " + chips.front().name + " " + std::to_string(chips.front().threadsOfWarp()) +
          " threads run in step, of " + chip.name + " " + std::to_string(chip.threadsOfWarp()) +
          ", and a kernel file is made for one number: make a file for each");
  const auto newestPtx = llvm::find_if(chips, [](const nanobragg::KernelTarget &chip) {
    return chip.vendor()->language == nanobragg::GpuLanguage::PTX;
  });
  auto assembler = Assembler::find((newestPtx != chips.end() ? *newestPtx : chips.front()).name);
  if (!assembler)
    return assembler.takeError();
  const std::optional<nanobragg::GpuLanguage> language = languageOf(kind);
  if (language && *language != chips.front().vendor()->language)
    return createStringError("there is no " + kind.str() + " of " + chips.front().name +
                             ": cubin is for NVIDIA chips such as sm_90, hsaco for AMD's such as "
                             "gfx942, spirv for spirv64");
  if (language && chips.size() != 1)
    return createStringError(kind.str() + " is for one chip: '" + options.targetText() +
                             "' are several");
  if (kind == "cubin" && !*assembler)
    return createStringError("there is no ptxas, which makes cubin of PTX: install the CUDA "
                             "toolkit, name its ptxas with NB_PTXAS, or ask for ptx");
  GpuKernel kernel(options);
  if (auto error = kernel.start(start))
    return error;
  for (const nanobragg::KernelTarget &chip : chips)
    if (auto error =
            kernel.compileFor(chip, *assembler, newestPtx != chips.end() && chip == *newestPtx))
      return error;
  if (!language)
    return kernel.link(kind, std::move(made));
  std::vector<DeviceCode> &codes = kernel.machineCodes.empty() ? kernel.texts : kernel.machineCodes;
  return std::move(codes.front().bytes);
}
