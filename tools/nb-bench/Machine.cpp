#include "tools/nb-bench/Machine.h"

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

} // namespace nanobragg
