#include "lib/Program/Precision.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {

int mostCellsOfMixed(const Experiment &experiment) {
  const ProgramVariant &variant = experiment.variant;
  const CrystalShapeRow &shape = rowOf(variant.shape);
  const bool ofC = shape.hasRadiusOfC && variant.spotMetric == Rule::C;
  return ofC ? std::min(shape.mostMixedCells, 128) : shape.mostMixedCells;
}

Precision precisionFor(Precision wanted, const Experiment &experiment) {
  if (wanted == Precision::F32 && (experiment.variant.averaging == Averaging::Closed ||
                                   experiment.variant.averaging == Averaging::Spots))
    wanted = Precision::Mixed;
  double cells = *std::ranges::max_element(experiment.crystal.ncells);
  if (rowOf(experiment.variant.shape).hasMatrix)
    for (const double width : experiment.crystal.ncellsCross)
      cells += std::fabs(width);
  const bool wide = cells > mostCellsOfMixed(experiment);
  return wanted == Precision::Mixed && wide ? Precision::F64 : wanted;
}

} // namespace nanobragg
