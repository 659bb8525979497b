// A distribution and the few samples that stand for it.
#ifndef NANOBRAGG_ESTIMATE_SAMPLEDROW_H
#define NANOBRAGG_ESTIMATE_SAMPLEDROW_H

#include <cstdint>
#include <vector>

namespace nanobragg {

/// Cells: samples stand at equal distances in the middles of equal parts of the range. Ends: the
/// first and the last stand at its ends. Normal: at the quantiles of a normal distribution.
enum class Spacing { Cells, Ends, Normal };

/// A variable that is averaged over, in its own unit; nothing where the width is 0.
struct Spread {
  double width = 0; ///< the range, or the standard deviation (Normal)
  Spacing spacing = Spacing::Cells;

  double extent() const { return spacing == Spacing::Normal ? 6 * width : width; }
};

/// Both as functions of a frequency, in 1 / unit: their Fourier transforms.
class SampledRow {
public:
  SampledRow(const Spread &spread, std::int64_t count);

  double samples(double frequency) const;
  double distribution(double frequency) const;

private:
  Spread spread;
  std::int64_t count;
  std::vector<double> nodes; ///< on the unit scale; of Normal, unless they are many
};

} // namespace nanobragg
#endif
