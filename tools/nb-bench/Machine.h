// The machine that the numbers were measured on.
#ifndef NANOBRAGG_NBBENCH_MACHINE_H
#define NANOBRAGG_NBBENCH_MACHINE_H

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

} // namespace nanobragg
#endif
