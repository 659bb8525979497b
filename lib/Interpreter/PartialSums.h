// Sums over pixels, part by part.
#ifndef NB_INTERPRETER_PARTIAL_SUMS_H
#define NB_INTERPRETER_PARTIAL_SUMS_H

#include "lib/Interpreter/Summand.h"

namespace mlir::nb {

/// Consecutive tiles whose sums are added up one after the other, and all parts' sums after that:
/// sums do not depend on the number of threads. The parts depend on the image and on the size of
/// the sums alone, so that these do not take more than 256 MiB.
struct Partition {
  int64_t tiles, parts;

  /// Without sums each tile is a part.
  Partition(int64_t tiles, int64_t numbersToSum);
  int64_t begin(int64_t part) const { return part * tiles / std::max<int64_t>(parts, 1); }
};

/// The sums of an image.
class PartialSums {
public:
  PartialSums(ArrayRef<Summand> sums, Frame &root);
  /// How many numbers all sums have.
  int64_t size() const { return offsets.back(); }
  /// Adds what the pixels of a tile have yielded to those of its part.
  void add(Frame &frame, std::vector<double> &part) const;
  /// Makes the results: the parts, in their order.
  void conclude(Frame &root, ArrayRef<std::vector<double>> parts) const;

private:
  ArrayRef<Summand> sums;
  SmallVector<int64_t> offsets = {0};
};

} // namespace mlir::nb

#endif
