// Quantiles of the normal distribution.
#ifndef NANOBRAGG_EXPERIMENT_NORMALQUANTILES_H
#define NANOBRAGG_EXPERIMENT_NORMALQUANTILES_H

#include <cstdint>
#include <vector>

namespace nanobragg {

/// x with a probability p, 0 <= p < 1, that a normal deviate lies between -x and x.
double quantileOfMagnitude(double p);

/// The middles of `count` parts of equal probability, ascending, scaled so that their mean square
/// is 1, as that of the distribution; one alone is 0.
std::vector<double> normalNodes(std::int64_t count);

} // namespace nanobragg
#endif
