#include "tools/nb-bench/Machine.h"

#include "runtime/processor/Stopwatch.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace nanobragg {
namespace {

/// The first value of each key of a file of lines `key SEPARATOR value`.
std::map<std::string, std::string> readPairs(const char *path, char separator) {
  std::map<std::string, std::string> pairs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (at == line.npos)
      continue;
    std::string key = line.substr(0, at), value = line.substr(at + 1);
    key.erase(key.find_last_not_of(" \t") + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    pairs.emplace(key, value);
  }
  return pairs;
}

bool hasWord(const std::string &text, const std::string &word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

} // namespace

Machine describeMachine() {
  Machine machine;
  auto cpu = readPairs("/proc/cpuinfo", ':');
  const std::string &flags = cpu["flags"];
  std::ostringstream text;
  text << (cpu.contains("model name") ? cpu["model name"] : "an unknown processor");
  if (cpu.contains("cpu family"))
    text << " (family " << cpu["cpu family"] << ", model " << cpu["model"] << ")";
  text << (hasWord(flags, "avx512f") ? " with AVX-512"
           : hasWord(flags, "avx2")  ? " with AVX2"
                                     : "");
  machine.processor = text.str();
  machine.cores = int(std::thread::hardware_concurrency());
  machine.memoryGiB =
      double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGESIZE)) / double(1 << 30);
  machine.system = readPairs("/etc/os-release", '=')["PRETTY_NAME"];
  machine.virtualized = hasWord(flags, "hypervisor");
  const std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  machine.date = date;
  return machine;
}

std::optional<double> measureClock() {
#ifdef __x86_64__
  constexpr int rounds = 8000, chained = 16, latency = 3;
  double best = 0;
  for (int attempt = 0; attempt != 8; ++attempt) { // others' time slices only take time
    std::uint64_t product = 1, one = 1;
    const Stopwatch watch;
    for (int i = 0; i != rounds; ++i)
      asm volatile(".rept 16\n imul %1, %0\n .endr" : "+r"(product) : "r"(one));
    best = std::max(best, rounds * double(chained) * latency / watch.seconds() * 1e-9);
  }
  return best;
#else
  return std::nullopt;
#endif
}

} // namespace nanobragg
