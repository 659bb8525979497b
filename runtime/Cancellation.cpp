//===- Cancellation.cpp ---------------------------------------------------===//
#include "nanobragg/Cancellation.h"

#include <csignal>
#include <stdexcept>

namespace nanobragg {
namespace {

std::atomic<CancellationToken *> current{nullptr};
std::atomic<int> received{0};
struct sigaction previousInterrupt, previousTerminate;

void onSignal(int signal) {
  received.store(signal, std::memory_order_relaxed);
  if (CancellationToken *token = current.load())
    token->request();
}

} // namespace

InterruptGuard::InterruptGuard(CancellationToken &token) {
  CancellationToken *none = nullptr;
  if (!current.compare_exchange_strong(none, &token))
    throw std::logic_error("only one InterruptGuard may exist at a time");
  received.store(0);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  // Resetting the handler makes the second Ctrl-C final; restarting keeps reads and writes intact.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, &previousInterrupt);
  sigaction(SIGTERM, &action, &previousTerminate);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &previousInterrupt, nullptr);
  sigaction(SIGTERM, &previousTerminate, nullptr);
  current.store(nullptr);
}

int InterruptGuard::signal() const noexcept { return received.load(std::memory_order_relaxed); }

} // namespace nanobragg
