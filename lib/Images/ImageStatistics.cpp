#include "lib/Images/ImageStatistics.h"

#include "lib/Parallel/ThreadTeam.h"
#include "lib/Parallel/Vectorized.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace nanobragg::io {
namespace {

/// Number, mean and sum of squared deviations from the mean; of two parts those of both (Chan,
/// Golub and LeVeque 1983).
struct Moments {
  double count = 0, mean = 0, deviations = 0;

  void add(const Moments &other) {
    if (other.count == 0)
      return;
    const double both = count + other.count, shift = other.mean - mean;
    deviations += other.deviations + shift * shift * (count * other.count / both);
    mean += shift * (other.count / both);
    count = both;
  }
};

/// Statistics of some rows, in order.
struct PartStatistics {
  double sum = 0, squares = 0; ///< over rendered pixels
  std::int64_t rendered = 0, notFinite = 0;
  Moments all;       ///< over masked pixels, too
  float maximum = 0; ///< over rendered pixels

  void add(const PartStatistics &next) {
    sum += next.sum;
    squares += next.squares;
    rendered += next.rendered;
    notFinite += next.notFinite;
    all.add(next.all);
    maximum = next.maximum > maximum ? next.maximum : maximum;
  }
};

struct RowSums {
  double sum, squares, all, deviations;
  std::int32_t rendered, notFinite, highest; ///< the last as the bits of a float
};

/// A row is small enough for the first cache, so that it is read from memory once. Floats above 0
/// are in the order of their bits, which are compared since infinities and no numbers need no care
/// then.
template <bool masked>
inline __attribute__((always_inline)) void sumRow(const float *row, const std::uint8_t *mask,
                                                  std::int64_t count, RowSums &sums) {
#pragma clang fp reassociate(on) contract(off)
  constexpr std::int32_t infinite = 0x7f800000;
  double sum = 0, squares = 0, all = 0, deviations = 0;
  std::int32_t highest = 0, rendered = 0, notFinite = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = row[i];
    const std::int32_t bits = __builtin_bit_cast(std::int32_t, row[i]);
    const bool counts = !masked || mask[i] != 0;
    const double seen = counts ? value : 0;
    sum += seen;
    squares += seen * seen;
    all += value;
    rendered += counts;
    notFinite += (bits & infinite) == infinite;
    const std::int32_t candidate = bits > infinite || !counts ? 0 : bits;
    highest = candidate > highest ? candidate : highest;
  }
  const double mean = all / double(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double deviation = row[i] - mean;
    deviations += deviation * deviation;
  }
  sums = {sum, squares, all, deviations, rendered, notFinite, highest};
}

NB_VECTORIZED void sumWholeRow(const float *row, std::int64_t count, RowSums &sums) {
  sumRow<false>(row, nullptr, count, sums);
}

NB_VECTORIZED void sumMaskedRow(const float *row, const std::uint8_t *mask, std::int64_t count,
                                RowSums &sums) {
  sumRow<true>(row, mask, count, sums);
}

PartStatistics ofRow(const float *row, const std::uint8_t *mask, std::int64_t count) {
  RowSums sums;
  if (mask)
    sumMaskedRow(row, mask, count, sums);
  else
    sumWholeRow(row, count, sums);
  return {sums.sum,
          sums.squares,
          sums.rendered,
          sums.notFinite,
          {double(count), sums.all / double(count), sums.deviations},
          std::bit_cast<float>(sums.highest)};
}

/// Pixels are summed up in parts of this size, however many threads there are.
constexpr std::int64_t pixelsOfPart = 1 << 15;

} // namespace

ImageStatistics computeStatistics(std::span<const float> image, const ImageRegion &region,
                                  std::span<const std::uint8_t> mask, int threads) {
  if (image.size() != region.pixelCount() || (!mask.empty() && mask.size() != image.size()))
    throw std::invalid_argument("the image or its mask does not have the region's size");
  const std::int64_t perRow = region.pixelsOfRow(), rows = perRow > 0 ? region.rows() : 0;
  const auto rowAt = [&](std::int64_t row) {
    const std::size_t begin = region.beginOfRow(row);
    return ofRow(&image[begin], mask.empty() ? nullptr : &mask[begin], perRow);
  };

  const std::int64_t rowsOfPart =
      std::max<std::int64_t>(1, pixelsOfPart / std::max<std::int64_t>(perRow, 1));
  std::vector<PartStatistics> parts(std::size_t((rows + rowsOfPart - 1) / rowsOfPart));
  ThreadTeam(parts.size() > 1 ? threadsOf(threads) : 1)
      .forEach(std::int64_t(parts.size()), [&](std::int64_t i, int) {
        PartStatistics part;
        for (std::int64_t row = i * rowsOfPart; row < std::min(rows, (i + 1) * rowsOfPart); ++row)
          part.add(rowAt(row));
        parts[std::size_t(i)] = part;
      });
  PartStatistics whole;
  for (const PartStatistics &part : parts)
    whole.add(part);

  ImageStatistics result;
  result.notFinite = whole.notFinite;
  result.maximum = whole.maximum;
  result.found = whole.maximum > 0;
  if (result.found) {
    // The first of all that are as bright.
    const auto partOf = std::int64_t(
        std::ranges::find(parts, whole.maximum, &PartStatistics::maximum) - parts.begin());
    const auto isIt = [&](std::size_t i) {
      return image[i] == whole.maximum && (mask.empty() || mask[i] != 0);
    };
    for (std::int64_t row = partOf * rowsOfPart;; ++row) {
      std::size_t i = region.beginOfRow(row);
      const std::size_t end = i + std::size_t(perRow);
      while (i != end && !isIt(i))
        ++i;
      if (i == end)
        continue;
      const auto index = std::int64_t(i);
      result.maximumFast = index % region.fastPixels;
      result.maximumSlow = index / region.fastPixels % region.slowPixels;
      result.maximumPanel = index / region.fastPixels / region.slowPixels;
      break;
    }
  }

  const auto lessOne = [](double n) { return n <= 1 ? 1.0 : n - 1; };
  result.mean = whole.rendered > 0 ? whole.sum / double(whole.rendered) : 0;
  result.rms = std::sqrt(whole.squares / lessOne(double(whole.rendered)));
  const double shift = whole.all.mean - result.mean;
  const double deviations = whole.all.deviations + whole.all.count * shift * shift;
  result.rmsd = std::sqrt(deviations / lessOne(whole.all.count));
  return result;
}

double lastSubpixelCenter(std::int64_t pixel, double pixelSize, std::int64_t oversample) {
  const double subpixel = pixelSize / double(oversample);
  return subpixel * double(pixel * oversample + oversample - 1) + subpixel / 2;
}

} // namespace nanobragg::io
