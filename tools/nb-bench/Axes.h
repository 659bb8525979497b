// Which workloads make a table.
#ifndef NANOBRAGG_NBBENCH_AXES_H
#define NANOBRAGG_NBBENCH_AXES_H

#include "tools/nb-bench/Workload.h"

#include <string>
#include <vector>

namespace nanobragg {

/// The values along each axis of the table.
struct Axes {
  std::vector<std::string> shapes = shapesOfFlags();
  std::vector<std::string> factors{"nearest"};
  std::vector<int> cells{10}, domains{10}, oversample{1}, sources{1}, phiSteps{1};

  /// Every combination.
  std::vector<Workload> crossed() const;
};

/// Each shape once, and each kind of structure factors.
std::vector<Workload> quickTable();

/// A square crystal of ten cells with a grid and ten mosaic domains, and every value of each axis
/// in its place, one at a time.
std::vector<Workload> fullTable();

/// Every combination of those values: 1152 of them.
std::vector<Workload> crossTable();

/// The few whose instruction counts are guarded: one for each thing that changes the inner loop.
std::vector<Workload> guardedTable();

} // namespace nanobragg
#endif
