// Instructions, counted.
//
// By stepping through them, one trap each. That needs neither hardware counters, which virtual
// machines rarely have, nor a simulator of the processor, and those that exist do not know AVX-512.
// It is exact and takes microseconds per instruction.
#ifndef NANOBRAGG_PROCESSOR_STEPCOUNT_H
#define NANOBRAGG_PROCESSOR_STEPCOUNT_H

#include <cstdint>
#include <memory>
#include <span>

namespace nanobragg {

/// Counts what one thread executes between start() and stop() of the code that lies in memory
/// together with `code`. One at a time in a process: it takes the signals SIGTRAP and SIGUSR1.
class StepCounter {
public:
  explicit StepCounter(const void *code);
  ~StepCounter();
  StepCounter(const StepCounter &) = delete;

  void start();
  void stop();
  /// 0 on a processor that cannot count: other than x86-64.
  std::uint64_t count() const;
  /// How often the instruction at each address was executed, from `begin` on.
  std::span<const std::uint32_t> counts() const;
  /// Where the mapping of the code begins.
  const char *begin() const;

private:
  struct Handlers;
  std::unique_ptr<Handlers> handlers;
};

} // namespace nanobragg
#endif
