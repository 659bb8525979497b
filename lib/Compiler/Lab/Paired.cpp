#include "lib/Compiler/Lab/Paired.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cmath>

using namespace mlir::nb;

/// The least ratio that the interval begins with, by its number: that more than these are above the
/// median has a probability of 2.5 % at most, as with heads of as many coins.
static size_t firstWithin(size_t count) {
  double probability = std::pow(0.5, double(count)), sum = probability;
  size_t k = 0;
  for (;; ++k) {
    probability *= double(count - k) / double(k + 1);
    sum += probability;
    if (sum > 0.025)
      return k;
  }
}

Ratio mlir::nb::pairedRatio(llvm::ArrayRef<double> times, llvm::ArrayRef<double> against) {
  llvm::SmallVector<double> ratios;
  for (auto [time, other] : llvm::zip_equal(times, against))
    ratios.push_back(time / other);
  assert(ratios.size() >= fewestRounds && "no interval of 95 %");
  llvm::sort(ratios);
  const size_t count = ratios.size(), first = firstWithin(count);
  const double median = (ratios[(count - 1) / 2] + ratios[count / 2]) / 2;
  return {median, ratios[first], ratios[count - 1 - first]};
}
