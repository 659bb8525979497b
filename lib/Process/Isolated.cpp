#include "lib/Process/Isolated.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace nanobragg {
namespace {

using Clock = std::chrono::steady_clock;

/// Handlers of this process print stack dumps, or remove its temporaries.
void forgetHandlers() {
  for (int signal :
       {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1})
    ::signal(signal, SIG_DFL);
}

void limitMemory(double more) {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto most = rlim_t(pages * double(::sysconf(_SC_PAGESIZE)) + more);
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  ::setrlimit(RLIMIT_AS, &limit);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

void writeAll(int file, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t now = ::write(file, bytes.data() + done, bytes.size() - done);
    if (now < 0 && errno != EINTR)
      return;
    done += now > 0 ? size_t(now) : 0;
  }
}

} // namespace

IsolatedResult runIsolated(const std::function<std::string()> &work, const IsolatedLimits &limits) {
  IsolatedResult result;
  int ends[2];
  // The copy must not write what these hold. Another thread may have the lock of other streams.
  std::fflush(stdout);
  std::fflush(stderr);
  if (::pipe(ends) != 0) {
    result.problem = std::string("cannot be tried: ") + std::strerror(errno);
    result.begun = false;
    return result;
  }
  sigset_t all, before; // until the copy has no handlers
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    forgetHandlers();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (limits.bytes)
      limitMemory(*limits.bytes);
    if (limits.withErrors)
      ::dup2(ends[1], STDERR_FILENO);
    writeAll(ends[1], work());
    std::_Exit(0);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    result.problem = std::string("cannot be tried: ") + std::strerror(errno);
    result.begun = false;
    return result;
  }
  const auto begin = Clock::now();
  bool late = false;
  char buffer[65536];
  for (;;) {
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    constexpr double toSayWhy = 6; // seconds for handlers of the copy
    if (passed > limits.seconds + (late ? toSayWhy : 0)) {
      ::kill(child, late ? SIGKILL : SIGTERM);
      if (std::exchange(late, true))
        break;
    }
    pollfd ready{ends[0], POLLIN, 0};
    if (::poll(&ready, 1, 200) <= 0)
      continue;
    ssize_t now = ::read(ends[0], buffer, sizeof buffer);
    if (now <= 0)
      break;
    result.bytes.append(buffer, size_t(now));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late)
    result.problem = "takes more than " + std::to_string(int(limits.seconds)) + " s";
  else if (WIFSIGNALED(status))
    result.problem = std::string("crashes: ") + ::strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    result.problem = "ends with status " + std::to_string(WEXITSTATUS(status));
  return result;
}

} // namespace nanobragg
