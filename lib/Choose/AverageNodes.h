// The quadrature of averages.
#ifndef NANOBRAGG_CHOOSE_AVERAGENODES_H
#define NANOBRAGG_CHOOSE_AVERAGENODES_H

#include "lib/Experiment/Experiment.h"

namespace nanobragg {

/// Sets nodes and weights of Gauss-Legendre quadrature over -1/2 to 1/2.
void chooseNodes(std::int64_t count, Average &average);

} // namespace nanobragg
#endif
