#include "lib/Compiler/Lab/Isolated.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using mlir::nb::IsolatedResult;
using Clock = std::chrono::steady_clock;

/// LLVM prints a stack dump of its own on these, which says nothing to who wrote the pipeline.
static void endQuietly() {
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    ::signal(signal, SIG_DFL);
}

static void writeAll(int file, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t now = ::write(file, bytes.data() + done, bytes.size() - done);
    if (now < 0 && errno != EINTR)
      return;
    done += now > 0 ? size_t(now) : 0;
  }
}

IsolatedResult mlir::nb::runIsolated(llvm::function_ref<std::string()> work, double mostSeconds) {
  IsolatedResult result;
  int ends[2];
  std::fflush(nullptr);
  if (::pipe(ends) != 0) {
    result.problem = std::string("cannot be tried: ") + std::strerror(errno);
    return result;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    endQuietly();
    writeAll(ends[1], work());
    std::_Exit(0);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    result.problem = std::string("cannot be tried: ") + std::strerror(errno);
    return result;
  }
  const auto begin = Clock::now();
  bool late = false;
  char buffer[65536];
  for (;;) {
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    if (passed > mostSeconds) {
      late = true;
      ::kill(child, SIGKILL);
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
    result.problem = "takes more than " + std::to_string(int(mostSeconds)) + " s";
  else if (WIFSIGNALED(status))
    result.problem = std::string("crashes: ") + ::strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    result.problem = "ends with status " + std::to_string(WEXITSTATUS(status));
  return result;
}
