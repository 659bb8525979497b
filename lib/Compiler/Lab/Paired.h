// Times that are measured in turn.
#ifndef NB_LAB_PAIRED_H
#define NB_LAB_PAIRED_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir::nb {

/// A ratio that was measured, and the interval that it lies in with 95 %.
struct Ratio {
  double median = 1, least = 1, most = 1;

  /// Less, and not by chance; by the fraction `by` in the median.
  bool isGain(double by) const { return most < 1 && median < 1 - by; }
};

/// Rounds of which an interval of 95 % can be made.
inline constexpr unsigned fewestRounds = 6;

/// times[i] over against[i], of the rounds of a measurement in turn: what the machine does besides
/// meets both of a round. The interval is that of the median by the order of the ratios alone,
/// whatever they are distributed like. At least fewestRounds of them.
Ratio pairedRatio(llvm::ArrayRef<double> times, llvm::ArrayRef<double> against);

} // namespace mlir::nb

#endif
