// The machine that the numbers were measured on.
#ifndef NANOBRAGG_NBBENCH_MACHINE_H
#define NANOBRAGG_NBBENCH_MACHINE_H

#include <optional>
#include <string>

namespace nanobragg {

struct Machine {
  std::string processor; ///< model name, family, model, widest vectors
  int cores = 1;
  double memoryGiB = 0;
  std::string system; ///< distribution
  bool virtualized = false;
  std::string date; ///< UTC, as 2026-11-20
};

Machine describeMachine();

/// Cycles per nanosecond, by multiplications that each wait for the one before
/// and take three cycles, on processors of Intel since 2008 and of AMD since 2017: virtual machines
/// rarely have a counter of cycles. Takes about a millisecond. Nothing on processors other than
/// x86-64.
std::optional<double> measureClock();

} // namespace nanobragg
#endif
