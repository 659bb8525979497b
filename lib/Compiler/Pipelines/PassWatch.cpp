#include "lib/Compiler/Pipelines/PassWatch.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace mlir::nb;

namespace {
constexpr int caught[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM};

PassWatch *watching = nullptr;
struct sigaction previous[std::size(caught)];

void restore() {
  for (size_t i = 0; i != std::size(caught); ++i)
    sigaction(caught[i], &previous[i], nullptr);
}

/// The process ends here, so what a handler must not do otherwise is worth trying.
void onSignal(int signal) {
  restore();
  if (PassWatch *watch = std::exchange(watching, nullptr)) {
    ::alarm(5); // a lock may be held
    const std::string text = "pass " + watch->name() +
                             " does not end in order; this shows it: " + watch->reproduce() + "\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    ::alarm(0);
  }
  ::raise(signal);
}

/// For a stack that has overflown.
void useOtherStack() {
  static std::vector<char> memory(std::max<size_t>(SIGSTKSZ, 1 << 20));
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  ::sigaltstack(&stack, nullptr);
}
} // namespace

PassWatch::PassWatch(ModuleOp program, std::string pass, std::string pipeline)
    : pass(std::move(pass)), pipeline(std::move(pipeline)), before(program.clone()) {
  if (watching) // a pass that runs passes
    return;
  useOtherStack();
  watching = this;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i != std::size(caught); ++i)
    sigaction(caught[i], &action, &previous[i]);
}

PassWatch::~PassWatch() {
  if (watching != this)
    return;
  restore();
  watching = nullptr;
}

std::string PassWatch::reproduce() {
  const std::string file = "reproducer-" + pass + ".mlir",
                    command = "nb-opt " + file + " --pass-pipeline='" + pipeline + "'";
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (error)
    return "(" + file + " cannot be written: " + error.message() + ") " + command;
  before->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  stream << '\n';
  return command;
}
