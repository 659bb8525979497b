// Random experiments, for as long as one likes: every engine against the others, and the same
// experiment said in other ways.
//
//   nb-random-test [--seconds=10] [--trials=N] [--seed=S] [--device=DEVICE]
//
// With a device, nb-sim's word for it, that device against the processor and nothing else.
#include "test/random/Trial.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <string_view>

using namespace nanobragg::random_test;

int main(int argc, char **argv) {
  double seconds = 10;
  unsigned long long trials = ~0ull;
  // 32 bits, so that it is quickly typed.
  unsigned long long seed = std::random_device()();
  std::string device;
  for (int i = 1; i != argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&](std::string_view flag) {
      return word.starts_with(flag) ? word.data() + flag.size() : nullptr;
    };
    if (const char *text = value("--seconds="))
      seconds = std::atof(text);
    else if (const char *text = value("--trials="))
      trials = std::strtoull(text, nullptr, 10), seconds = 1e9;
    else if (const char *text = value("--seed="))
      seed = std::strtoull(text, nullptr, 10);
    else if (const char *text = value("--device="))
      device = text;
    else
      return std::fprintf(stderr,
                          "usage: %s [--seconds=S] [--trials=N] [--seed=S] [--device=DEVICE]\n",
                          argv[0]),
             2;
  }
  std::printf("first seed %llu\n", seed);
  std::fflush(stdout);

  Counts counts;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; counts.trials < trials && std::chrono::steady_clock::now() < end; ++seed) {
    try {
      Trial trial(seed, counts);
      if (!device.empty()) {
        compareDevice(trial, device);
        continue;
      }
      compareEngines(trial);
      checkRelations(trial);
    } catch (const std::exception &error) {
      std::printf("FAILED with --seed=%llu --trials=1: %s\n", seed, error.what());
      ++counts.failures;
    }
    std::fflush(stdout);
  }
  std::printf(
      "%zu experiments, %zu pixels with light, %zu images, %zu gradients; images at most %.2g "
      "of the tolerance apart, %zu pixels on an edge left out; %zu failures\n",
      counts.trials, counts.lit, counts.images, counts.gradients, counts.worst, counts.excluded,
      counts.failures);
  const bool empty = counts.lit < counts.trials * 50;
  if (empty)
    std::printf("the images are empty\n");
  return counts.failures || empty ? 1 : 0;
}
