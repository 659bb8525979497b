#include "lib/Compiler/Pipelines/PassWatch.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace mlir::nb;

namespace {
constexpr int caught[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM};

PassWatch *watching = nullptr;
struct sigaction previous[std::size(caught)];
std::terminate_handler terminateBefore;

void restore() {
  for (size_t i = 0; i != std::size(caught); ++i)
    sigaction(caught[i], &previous[i], nullptr);
  std::set_terminate(terminateBefore);
}

/// The process ends here, so what must not be done otherwise is worth trying.
void tell() {
  PassWatch *watch = std::exchange(watching, nullptr);
  if (!watch)
    return;
  ::alarm(5); // a lock may be held
  const std::string &name = watch->name();
  const auto write = [](StringRef text) {
    (void)!::write(STDERR_FILENO, text.data(), text.size());
  };
  // The name takes no memory, of which there may be none.
  write("pass ");
  write(name);
  write(" ends the process; to reproduce it: ");
  write(watch->reproduce() + "\n");
  ::alarm(0);
}

void onSignal(int signal) {
  restore();
  tell();
  ::raise(signal);
}

void onTerminate() {
  restore();
  tell();
  std::terminate();
}

/// The process is not for a pass to end. Much of it is gone by now, so no program is written.
void onExit() {
  if (!watching)
    return;
  const std::string text = "pass " + watching->name() + " ends the process\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(EXIT_FAILURE);
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
  static const bool registered = std::atexit(onExit) == 0;
  (void)registered;
  watching = this;
  terminateBefore = std::set_terminate(onTerminate);
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
