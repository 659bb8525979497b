//===- Axes.h - which workloads make a table --------------------*- C++ -*-===//
#ifndef NANOBRAGG_NBBENCH_AXES_H
#define NANOBRAGG_NBBENCH_AXES_H

#include "Workload.h"

#include <string>
#include <vector>

namespace nanobragg {

/// The values along each axis of the table.
struct Axes {
  std::vector<std::string> shapes{"square", "round", "gauss", "tophat"};
  std::vector<std::string> factors{"nearest"};
  std::vector<int> cells{10}, domains{10}, oversample{1}, sources{1}, phiSteps{1};

  /// Every combination.
  std::vector<Workload> crossed() const;
};

/// Each shape once, and each kind of structure factors.
std::vector<Workload> quickTable();

/// Shapes x sizes of the crystal x kinds of structure factors, and for each shape and kind the
/// loops longer and shorter one at a time.
std::vector<Workload> fullTable();

/// The few whose instruction counts are guarded: one for each thing that changes the inner loop.
std::vector<Workload> guardedTable();

} // namespace nanobragg
#endif
