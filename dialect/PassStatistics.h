// Statistics of passes, counted whatever LLVM was built with.
//
// In LLVM's release builds mlir::Pass::Statistic counts nothing. Statistic<...> in Passes.td makes
// one of these instead (nb_pass_tablegen in cmake/NanoBragg.cmake), and --mlir-pass-statistics
// prints them.
#ifndef NB_PASSSTATISTICS_H
#define NB_PASSSTATISTICS_H

#include "mlir/Pass/Pass.h"

#include <cstdint>
#include <vector>

namespace mlir::nb {

/// A number that a pass counts, for all of its runs in this process together. Safe to count with
/// from several threads.
class PassStatistic {
public:
  /// `name` and `description` are literals.
  PassStatistic(Pass *owner, const char *name, const char *description)
      : owner(owner), name(name), description(description) {}
  PassStatistic(const PassStatistic &) = delete;
  PassStatistic &operator=(const PassStatistic &) = delete;

  PassStatistic &operator+=(uint64_t more);
  PassStatistic &operator++() { return *this += 1; }

private:
  Pass *owner;
  const char *name, *description;
};

/// A statistic's value; one that was added to, if only 0.
struct CountedStatistic {
  std::string pass, name, description;
  uint64_t value = 0;
};

/// In the order in which passes first counted.
std::vector<CountedStatistic> passStatistics();
/// Forgets all.
void clearPassStatistics();

} // namespace mlir::nb

#endif
