#include "tools/nb-opt/RunningPasses.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

using namespace mlir;

namespace {
/// "nb-hoist-invariants on func.func @image", of each thread one.
std::vector<std::string> running;
std::mutex lock;

std::string describe(Pass *pass, Operation *op) {
  auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  return pass->getArgument().str() + " on " + op->getName().getStringRef().str() +
         (symbol ? " @" + symbol.str() : "");
}

/// The process ends here, whoever holds the lock.
void tellRunning(void * = nullptr) {
  (void)lock.try_lock();
  for (const std::string &pass : std::exchange(running, {}))
    llvm::errs() << "nb-opt: this pass did not end: " << pass << "\n";
}

void onExit() {
  if (running.empty())
    return;
  tellRunning();
  ::_exit(EXIT_FAILURE);
}

void onTermination(int signal) {
  tellRunning();
  ::_exit(128 + signal);
}

void onInterrupt() { onTermination(SIGINT); }

struct RunningPasses : PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *op) override {
    const std::lock_guard guard(lock);
    if (!pass->getArgument().empty()) // passes that hold others have none
      running.push_back(describe(pass, op));
  }
  void runAfterPass(Pass *pass, Operation *) override {
    const std::lock_guard guard(lock);
    end(pass);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    const std::lock_guard guard(lock);
    if (end(pass))
      llvm::errs() << "nb-opt: this pass failed: " << describe(pass, op) << "\n";
  }

private:
  /// A pass may have renamed or erased what it ran on: the last one of its name is meant.
  static bool end(Pass *pass) {
    const std::string name = pass->getArgument().str() + " on ";
    for (auto it = running.rbegin(); it != running.rend(); ++it)
      if (StringRef(*it).starts_with(name)) {
        running.erase(std::next(it).base());
        return true;
      }
    return false;
  }
};
} // namespace

void nb::nameRunningPasses(PassManager &passes) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::sys::AddSignalHandler(tellRunning, nullptr);
    llvm::sys::SetInterruptFunction(onInterrupt);
    std::signal(SIGTERM, onTermination);
    std::atexit(onExit);
  });
  passes.addInstrumentation(std::make_unique<RunningPasses>());
}
