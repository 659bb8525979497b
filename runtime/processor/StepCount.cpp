#include "runtime/processor/StepCount.h"

#ifdef __x86_64__

#include <csignal>
#include <fstream>
#include <string>
#include <ucontext.h>
#include <vector>

namespace nanobragg {
namespace {

/// Where code lies in memory.
struct CountRange {
  std::uint64_t begin = 0, end = 0;
};

volatile std::uint64_t steps;
CountRange counted;
std::vector<std::uint32_t> executed; ///< by address in that range

void countStep(int, siginfo_t *, void *context) {
  const auto at = std::uint64_t(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
  if (counted.begin <= at && at < counted.end) {
    steps = steps + 1;
    ++executed[at - counted.begin];
  }
}

void toggleStepping(int, siginfo_t *, void *context) {
  constexpr greg_t trapFlag = 0x100;
  static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] ^= trapFlag;
}

/// A signal's handler while this lives.
class Handler {
public:
  Handler(int signal, void (*handle)(int, siginfo_t *, void *)) : signal(signal) {
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = handle;
    ::sigaction(signal, &action, &before);
  }
  ~Handler() { ::sigaction(signal, &before, nullptr); }
  Handler(const Handler &) = delete;

private:
  int signal;
  struct sigaction before{};
};

/// The mapping of this process that holds an address.
CountRange mappingOf(const void *address) {
  const auto wanted = reinterpret_cast<std::uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  CountRange range;
  char dash;
  for (std::string rest; maps >> std::hex >> range.begin >> dash >> range.end;
       std::getline(maps, rest))
    if (range.begin <= wanted && wanted < range.end)
      return range;
  return {};
}

} // namespace

struct StepCounter::Handlers {
  Handler step{SIGTRAP, countStep}, toggle{SIGUSR1, toggleStepping};
};

StepCounter::StepCounter(const void *code) : handlers(std::make_unique<Handlers>()) {
  counted = mappingOf(code);
  executed.assign(counted.end - counted.begin, 0);
  steps = 0;
}

void StepCounter::start() { ::raise(SIGUSR1); }
void StepCounter::stop() { ::raise(SIGUSR1); }
std::uint64_t StepCounter::count() const { return steps; }
std::span<const std::uint32_t> StepCounter::counts() const { return executed; }
const char *StepCounter::begin() const { return reinterpret_cast<const char *>(counted.begin); }

} // namespace nanobragg

#else

namespace nanobragg {
struct StepCounter::Handlers {};
StepCounter::StepCounter(const void *) {}
void StepCounter::start() {}
void StepCounter::stop() {}
std::uint64_t StepCounter::count() const { return 0; }
std::span<const std::uint32_t> StepCounter::counts() const { return {}; }
const char *StepCounter::begin() const { return nullptr; }
} // namespace nanobragg

#endif

namespace nanobragg {
StepCounter::~StepCounter() = default;
} // namespace nanobragg
