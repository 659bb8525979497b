#include "lib/Experiment/Precision.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {

int mostCellsOfMixed(const Experiment &experiment) {
  const ProgramVariant &variant = experiment.variant;
  const bool gaussian = variant.shape == CrystalShape::GaussMatrix ||
                        (variant.shape == CrystalShape::Gauss && variant.spotMetric == Rule::Right);
  return gaussian ? 500 : 128;
}

Precision precisionFor(Precision wanted, const Experiment &experiment) {
  double cells = *std::ranges::max_element(experiment.crystal.ncells);
  if (experiment.variant.shape == CrystalShape::GaussMatrix)
    for (const double width : experiment.crystal.ncellsCross)
      cells += std::fabs(width);
  const bool tophat = experiment.variant.shape == CrystalShape::Tophat;
  const bool wide = cells > mostCellsOfMixed(experiment);
  return wanted == Precision::Mixed && (wide || tophat) ? Precision::F64 : wanted;
}

} // namespace nanobragg
