#include "lib/Experiment/Precision.h"

#include <algorithm>

namespace nanobragg {

std::string precisionFor(std::string_view wanted, const Experiment &experiment) {
  const double cells = *std::ranges::max_element(experiment.crystal.ncells);
  return std::string(wanted == "mixed" && cells > mostCellsOfMixed ? "f64" : wanted);
}

} // namespace nanobragg
