#include "runtime/python/bindings/Interrupt.h"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace nanobragg::python {
namespace {

std::atomic<CancellationToken *> running{nullptr};
struct sigaction before;

extern "C" void stopAndPassOn(int signal, siginfo_t *info, void *context) {
  if (CancellationToken *token = running.load())
    token->request();
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(signal, info, context);
  else
    before.sa_handler(signal);
}

bool isMainThread() { return ::getpid() == pid_t(::syscall(SYS_gettid)); }

} // namespace

InterruptStops::InterruptStops(CancellationToken &token) {
  if (!isMainThread() || running.load())
    return;
  struct sigaction now;
  if (::sigaction(SIGINT, nullptr, &now) != 0)
    return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL))
    return;
  before = now;
  running.store(&token);
  struct sigaction ours = {};
  ours.sa_sigaction = stopAndPassOn;
  ours.sa_flags = SA_SIGINFO | (now.sa_flags & ~SA_SIGINFO);
  ours.sa_mask = now.sa_mask;
  installed = ::sigaction(SIGINT, &ours, nullptr) == 0;
  if (!installed)
    running.store(nullptr);
}

InterruptStops::~InterruptStops() {
  if (!installed)
    return;
  ::sigaction(SIGINT, &before, nullptr);
  running.store(nullptr);
}

} // namespace nanobragg::python
