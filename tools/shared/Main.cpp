#include "tools/shared/Main.h"

#include "lib/Files/InterruptGuard.h"
#include "lib/Files/OutputFile.h"
#include "lib/Files/TraceFile.h"
#include "lib/Quantities/Printable.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <span>
#include <string_view>
#include <sys/resource.h>

namespace nanobragg {

int print(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? Success : Failure;
}

namespace {
const char *program = "";

/// As many as the system lets this process have: each panel has a file, and shells allow 1024.
void openManyFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool isForMlir(const std::string &word) {
  return word.starts_with("--mlir-") || word == "--debug-only" || word.starts_with("--debug-only=");
}

/// Where an exception can go no further, in a library's destructor or thread: temporaries of
/// outputs must not stay behind, and the run owes its sentence.
[[noreturn]] void giveUp() {
  io::OutputFile::removeTemporaries();
  std::fprintf(stderr,
               "%s: error: out of memory or threads in a place that cannot be left in order; free "
               "some and run it again\n",
               program);
  std::_Exit(Failure);
}
} // namespace

int runTool(const char *name, const char *helpFlag, int argc, char **argv,
            int (*work)(const CommandWords &words), void (*setFlags)(const CommandWords &)) {
  const auto began = trace::Clock::now();
  const auto report = [&](const char *problem, ExitStatus status) {
    trace::dropRecord();
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: %s\n", name, printable(problem).c_str());
    if (status == UsageFailure)
      std::fprintf(stderr, "%s %s lists its flags\n", name, helpFlag);
    return status;
  };
  program = name;
  std::set_terminate(giveUp);
  openManyFiles();
  try {
    const io::InterruptGuard interrupt(name);
    if (const std::string file = trace::fileOfEnvironment(); !file.empty())
      trace::recordTo(file, began);
    CommandWords words(argv + 1, argv + argc), flags;
    if (setFlags) {
      std::ranges::copy_if(words, std::back_inserter(flags), isForMlir);
      std::erase_if(words, isForMlir);
      setFlags(flags);
    }
    const int status = work(words);
    status == Failure ? trace::dropRecord() : trace::writeRecord(name);
    return status;
  } catch (const UsageError &error) {
    return report(error.what(), UsageFailure);
  } catch (const std::bad_alloc &) {
    return report("out of memory; render fewer pixels (-detpixels, -roi) or a smaller "
                  "structure-factor grid",
                  Failure);
  } catch (const std::exception &error) {
    return report(error.what(), Failure);
  }
}

int runTool(const char *name, std::string (*usage)(), int argc, char **argv,
            int (*work)(const CommandWords &words), void (*setFlags)(const CommandWords &)) {
  const std::span<char *> words(argv, std::size_t(argc));
  const auto has = [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  if (has("--help") || (argc == 2 && has("-h")))
    return print(usage());
  if (has("--version"))
    return print(std::string(name) + " " NB_VERSION "\n");
  return runTool(name, "--help", argc, argv, work, setFlags);
}

} // namespace nanobragg
