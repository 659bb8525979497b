#include "lib/Files/PrintableErrors.h"

#include "lib/Quantities/Printable.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace nanobragg::io {
namespace {

int realErrors = -1;
pid_t filter = -1;

void write(const std::string &text) {
  for (std::size_t done = 0; done != text.size();) {
    const ssize_t n = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR)
      return;
    done += std::size_t(std::max<ssize_t>(n, 0));
  }
}

std::string cleaned(std::string_view line) {
  std::string result;
  while (true) {
    const std::size_t tab = line.find('\t');
    result += printable(line.substr(0, tab), std::string_view::npos);
    if (tab == std::string_view::npos)
      return result;
    result += '\t';
    line.remove_prefix(tab + 1);
  }
}

void handOn(int from) {
  std::string rest;
  char bytes[1 << 14];
  while (true) {
    const ssize_t n = ::read(from, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    rest.append(bytes, std::size_t(n));
    for (std::size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
      write(cleaned(std::string_view(rest).substr(0, end)) + "\n");
  }
  write(cleaned(rest));
}

/// Until all has been handed on; what comes later, as of a sanitizer, goes its own way.
void endFilter() {
  ::dup2(realErrors, STDERR_FILENO);
  ::waitpid(filter, nullptr, 0);
}

} // namespace

bool mayHoldUnprintable(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return c == '\\' || !((c >= ' ' && c <= '~') || c == '\n' || c == '\t');
  });
}

void makeErrorsPrintable() {
  int ends[2];
  if (filter >= 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    return;
  filter = ::fork();
  if (filter == 0) {
    std::signal(SIGINT, SIG_IGN); // it ends with the process that it serves
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    ::close(ends[1]);
    handOn(ends[0]);
    ::_exit(0);
  }
  ::close(ends[0]);
  if (filter > 0) {
    realErrors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(ends[1], STDERR_FILENO);
    std::atexit(endFilter);
  }
  ::close(ends[1]);
}

} // namespace nanobragg::io
