#include "lib/Interpreter/PartialSums.h"

using namespace mlir;
using namespace mlir::nb;

Partition::Partition(int64_t tiles, int64_t numbersToSum) : tiles(tiles), parts(tiles) {
  if (numbersToSum > 0)
    parts = std::min(tiles, std::clamp<int64_t>((int64_t(1) << 25) / numbersToSum, 1, 64));
}

PartialSums::PartialSums(ArrayRef<Summand> sums, Frame &root) : sums(sums) {
  for (const Summand &sum : sums)
    offsets.push_back(offsets.back() + sum.size(root));
}

void PartialSums::add(Frame &frame, std::vector<double> &part) const {
  part.resize(size_t(size()));
  for (auto [i, sum] : llvm::enumerate(sums))
    sum.add(frame, part.data() + offsets[i]);
}

void PartialSums::conclude(Frame &root, ArrayRef<std::vector<double>> parts) const {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    double *total = sum.clear(root);
    for (const std::vector<double> &part : parts) {
      if (part.empty()) // no pixels
        continue;
      for (int64_t n = offsets[i]; n < offsets[i + 1]; ++n)
        total[n - offsets[i]] += part[size_t(n)];
    }
  }
}
