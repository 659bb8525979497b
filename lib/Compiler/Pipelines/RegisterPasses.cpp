#include "lib/Compiler/Pipelines/RegisterPasses.h"

#include "dialect/NB.h"
#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Compiler/Pipelines/Registration.h"
#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Schedule/ScheduleOps.h"

#include "mlir/InitAllPasses.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>
#include <mutex>

using namespace mlir;

void nb::registerAllDialects(DialectRegistry &registry) {
  registry.insert<NBDialect>();
  registerScheduleOps(registry);
}

void nb::registerAllPasses() {
  // Two libraries with them in one process, as the compiler's and the plugin for MLIR's Python
  // bindings, share MLIR's list of passes, which refuses a second one of a name.
  if (PassInfo::lookup("nb-fuse"))
    return;
  registerTransformsPasses();
  registerConversionPasses();
  registerPipelines();
}

void nb::registerPassesOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerAllPasses();
    nb::registerAllPasses();
  });
}

/// Plugins find the nb dialect among the symbols that everybody sees, and the compiler library is
/// opened such that none does.
static void showSymbols() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&nb::registerPassesOnce), &info) && info.dli_fname)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

/// Are MLIR and LLVM in this library, and not in those that plugins share?
static bool hasOwnMlir() {
  Dl_info here, llvm;
  return dladdr(reinterpret_cast<void *>(&nb::registerPassesOnce), &here) &&
         dladdr(reinterpret_cast<void *>(&LLVMDisposeMessage), &llvm) &&
         here.dli_fbase == llvm.dli_fbase;
}

/// Loads the dialects and passes of one plugin. Returns why it cannot be used; empty: it can.
static std::string loadPlugin(StringRef file, DialectRegistry &registry) {
  // Not as the system's loader, which looks for plain names elsewhere.
  SmallString<256> path = file;
  if (!llvm::sys::fs::is_regular_file(path) || llvm::sys::fs::make_absolute(path))
    return "there is no such file";
  auto dialects = DialectPlugin::load(path.str().str());
  auto passes = PassPlugin::load(path.str().str());
  if (dialects)
    dialects->registerDialectRegistryCallbacks(registry);
  if (passes)
    passes->registerPassRegistryCallbacks();
  const bool usable = dialects || passes;
  llvm::consumeError(dialects.takeError());
  const std::string why = llvm::toString(passes.takeError());
  if (usable)
    return "";
  if (StringRef(why).contains("entry point not found"))
    return "it has neither mlirGetDialectPluginInfo nor mlirGetPassPluginInfo";
  // LLVM names the file, and the system's loader again.
  const StringRef told = StringRef(why).rsplit((path + ": ").str()).second;
  return told.empty() ? why : told.str();
}

llvm::Error nb::loadPlugins(StringRef files, DialectRegistry &registry) {
  if (files.empty())
    return llvm::Error::success();
  if (hasOwnMlir())
    return llvm::createStringError(
        "this compiler library has an MLIR of its own, which plugins cannot share; install or "
        "build libnb-compiler-shared.so beside it, or configure with NB_STATIC_COMPILER=OFF");
  registerPassesOnce();
  showSymbols();
  for (StringRef file : llvm::split(files, ',')) {
    const std::string why = loadPlugin(file, registry);
    if (!why.empty())
      return llvm::createStringError("the plugin '" + file.str() + "' cannot be used: " + why);
  }
  return llvm::Error::success();
}
