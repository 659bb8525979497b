#include "llvm/Plugins/PassPlugin.h"

// LLVM's link-time optimization, which lld brings along without being asked, registers the
// passes of Polly. They are in a package of their own; these are none.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no polly", "0", [](llvm::PassBuilder &) {}};
}
