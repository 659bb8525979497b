#include "lib/Experiment/Precision.h"

#include <algorithm>

namespace nanobragg {

std::string precisionFor(std::string_view wanted, const Experiment &experiment) {
  const double cells = *std::ranges::max_element(experiment.crystal.ncells);
  const bool tophat = experiment.variant.shape == CrystalShape::Tophat;
  return std::string(wanted == "mixed" && (cells > mostCellsOfMixed || tophat) ? "f64" : wanted);
}

} // namespace nanobragg
