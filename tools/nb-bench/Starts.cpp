//===- Starts.cpp ---------------------------------------------------------===//
#include "Starts.h"

#include "RunSetup.h"
#include "Timing.h"
#include "nanobragg/KernelRunner.h"

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace nanobragg {
namespace {

std::vector<std::string> wordsOf(const Workload &workload, const std::string &precision) {
  std::vector<std::string> words = workload.words();
  words.insert(words.end(), {"-compat", "c", "--precision=" + precision});
  return words;
}

Start startOnce(const std::vector<std::string> &words, int threads, KernelProvider &kernels) {
  Start start{};
  const Stopwatch input;
  const RunSetup setup(parseCommandLine(words));
  start.inputSeconds = input.seconds();
  const Stopwatch kernel;
  KernelRunner runner(kernels.get(setup.kernelRequest()), setup.derived.experiment);
  start.kernelSeconds = kernel.seconds();
  std::vector<float> image(std::size_t(runner.shape().pixels()));
  const Stopwatch run;
  runner.run(image, {.threads = threads});
  start.runSeconds = run.seconds();
  return start;
}

/// `count` starts in one process of their own.
std::vector<Start> inChild(std::size_t count, const std::function<Start()> &start) {
  int ends[2];
  if (::pipe(ends) != 0)
    throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    int status = 0;
    try {
      for (std::size_t i = 0; i != count; ++i) {
        const Start result = start();
        status |= ::write(ends[1], &result, sizeof(result)) != sizeof(result);
      }
    } catch (const std::exception &error) {
      std::fprintf(stderr, "nb-bench: error: %s\n", error.what());
      status = 1;
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  std::vector<Start> starts(count);
  bool complete = child > 0;
  for (Start &result : starts)
    complete = complete && ::read(ends[0], &result, sizeof(result)) == sizeof(result);
  ::close(ends[0]);
  int status = 0;
  if (child > 0)
    ::waitpid(child, &status, 0);
  if (!complete || status != 0)
    throw std::runtime_error("a start failed");
  return starts;
}

} // namespace

Starts measureStarts(const Workload &workload, int threads, const std::string &precision,
                     const std::filesystem::path &cache) {
  const std::vector<std::string> words = wordsOf(workload, precision);
  const auto process = [&](std::size_t count) {
    CacheOptions options = CacheOptions::fromEnvironment();
    options.directory = cache;
    options.warn = [](const std::string &text) { throw std::runtime_error(text); };
    KernelProvider kernels(CompilerLibrary::open, std::make_shared<KernelCache>(options));
    return inChild(count, [&] { return startOnce(words, threads, kernels); });
  };
  const std::vector<Start> first = process(2);
  return {first[0], first[1], process(1)[0]};
}

} // namespace nanobragg
