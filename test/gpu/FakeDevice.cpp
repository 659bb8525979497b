#include "test/gpu/FakeDevice.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace fake {

void wrong(const std::string &what) {
  std::fprintf(stderr, "fake CUDA driver: %s\n", what.c_str());
  std::fflush(nullptr);
  ::_exit(99);
}

long long setting(const char *name, long long otherwise) {
  const char *all = std::getenv("NB_FAKE_CUDA");
  const std::string text = " " + std::string(all ? all : ""), key = " " + std::string(name) + "=";
  const std::size_t at = text.find(key);
  return at == text.npos ? otherwise : std::atoll(text.c_str() + at + key.size());
}

void log(const std::string &line) {
  static std::FILE *file = [] {
    const char *name = std::getenv("NB_FAKE_CUDA_LOG");
    return name ? std::fopen(name, "a") : nullptr;
  }();
  if (!file)
    return;
  std::fputs((line + "\n").c_str(), file);
  std::fflush(file);
}

State state;

State::~State() {
  log("most " + std::to_string(most));
  if (!memory.empty() || !modules.empty() || streams || contexts)
    wrong("left at the end: " + std::to_string(memory.size()) + " pieces of memory, " +
          std::to_string(modules.size()) + " modules, " + std::to_string(streams) + " streams, " +
          std::to_string(contexts) + " contexts");
}

thread_local std::vector<int> current;

void needContext(const char *function) {
  if (current.empty())
    wrong(std::string(function) + " without a current context");
}

std::size_t totalMemory() { return std::size_t(setting("memory", 1ll << 34)); }

void checkRange(Address begin, std::size_t bytes, const std::string &what) {
  std::lock_guard lock(state.mutex);
  auto next = state.memory.upper_bound(begin);
  if (next == state.memory.begin())
    wrong(what + " is not in the device's memory");
  const auto &[start, piece] = *std::prev(next);
  if (begin + bytes > start + piece.bytes)
    wrong(what + " is not in the device's memory, or ends behind a piece of it");
  if (piece.device != current.back())
    wrong(what + " is in another device's memory");
}

} // namespace fake
