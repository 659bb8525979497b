#include "runtime/processor/Cancellation.h"

#include <csignal>
#include <cstddef>
#include <iterator>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<CancellationToken *> current{nullptr};
std::atomic<void (*)() noexcept> lastAct{nullptr};
std::atomic<int> received{0};
struct sigaction previous[std::size(caught)];

void onSignal(int signal) {
  if (received.exchange(signal) == 0) {
    if (CancellationToken *token = current.load())
      token->request();
    return;
  }
  if (auto act = lastAct.load())
    act();
  // Blocked while this handler runs, so it arrives on return, now with the default action.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

} // namespace

InterruptGuard::InterruptGuard(CancellationToken &token, void (*beforeDeath)() noexcept) {
  CancellationToken *none = nullptr;
  if (!current.compare_exchange_strong(none, &token))
    throw std::logic_error("only one InterruptGuard may exist at a time");
  received.store(0);
  lastAct.store(beforeDeath);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART; // reads and writes in progress stay intact
  for (std::size_t i = 0; i != std::size(caught); ++i) {
    sigaction(caught[i], &action, &previous[i]);
    // nohup stays in force. An ignored SIGINT does not: that is how scripts start background jobs,
    // and whoever sends them one means it.
    if (caught[i] == SIGHUP && previous[i].sa_handler == SIG_IGN)
      sigaction(caught[i], &previous[i], nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i != std::size(caught); ++i)
    sigaction(caught[i], &previous[i], nullptr);
  current.store(nullptr);
}

int InterruptGuard::signal() const noexcept { return received.load(); }

} // namespace nanobragg
