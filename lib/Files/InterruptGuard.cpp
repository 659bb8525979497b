#include "lib/Files/InterruptGuard.h"

#include "lib/Files/OutputFile.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

namespace nanobragg::io {
namespace {

constexpr int caught[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<const char *> tool{nullptr};
// Who enters a section while a handler ends the process on another thread waits for the end.
std::atomic<bool> uninterrupted{false}, ending{false};
struct sigaction previous[std::size(caught)], previousOfSize;

void say(const char *text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

void onSignal(int signal) {
  const int error = errno;
  ending = true;
  if (uninterrupted) {
    ending = false;
    errno = error;
    return;
  }
  OutputFile::removeTemporaries();
  if (const char *name = tool) {
    say(name);
    say(": interrupted; nothing is left half-written\n");
  }
  ::_exit(128 + signal);
}

} // namespace

InterruptGuard::InterruptGuard(const char *name) {
  const char *none = nullptr;
  if (!tool.compare_exchange_strong(none, name))
    throw std::logic_error("only one InterruptGuard may exist at a time");
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &previousOfSize);
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
  sigaction(SIGXFSZ, &previousOfSize, nullptr);
  tool = nullptr;
}

UninterruptedSection::UninterruptedSection() {
  uninterrupted = true;
  while (ending)
    ::usleep(1000);
}

UninterruptedSection::~UninterruptedSection() { uninterrupted = false; }

} // namespace nanobragg::io
