#include "nanobragg/SpotOfPixel.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {

std::vector<std::int32_t> brightestRows(const ReflectionTable &table, std::int64_t panels,
                                        std::int64_t slowPixels, std::int64_t fastPixels) {
  constexpr double sigmas = 5, ofPixel = 1.0 / 12;
  const std::size_t pixels = std::size_t(panels * slowPixels * fastPixels);
  std::vector<std::int32_t> rows(pixels, -1);
  std::vector<double> brightest(pixels);
  const auto photons = table.column("photons"), fast = table.column("fast"),
             slow = table.column("slow"), ff = table.column("covariance_ff"),
             fs = table.column("covariance_fs"), ss = table.column("covariance_ss");
  for (std::size_t row = 0; row != table.rows(); ++row) {
    if (!(photons[row] > 0) || table.panel[row] < 0)
      continue;
    const double a = ff[row] + ofPixel, b = fs[row], c = ss[row] + ofPixel, det = a * c - b * b;
    const double peak = photons[row] / std::sqrt(det);
    // Centres of pixels within the ellipse, and at least the pixel of the centre itself.
    const auto range = [](double centre, double variance, std::int64_t end) {
      const double half = sigmas * std::sqrt(variance);
      return std::pair(std::clamp<std::int64_t>(std::int64_t(std::floor(centre - half)), 0, end),
                       std::clamp<std::int64_t>(std::int64_t(std::ceil(centre + half)), 0, end));
    };
    const auto [f0, f1] = range(fast[row], a, fastPixels);
    const auto [s0, s1] = range(slow[row], c, slowPixels);
    for (std::int64_t s = s0; s < s1; ++s)
      for (std::int64_t f = f0; f < f1; ++f) {
        const double x = double(f) + 0.5 - fast[row], y = double(s) + 0.5 - slow[row];
        const double distance = (c * x * x - 2 * b * x * y + a * y * y) / det;
        if (distance > sigmas * sigmas)
          continue;
        const double light = peak * std::exp(-distance / 2);
        const auto p = std::size_t((table.panel[row] * slowPixels + s) * fastPixels + f);
        if (light > brightest[p]) {
          brightest[p] = light;
          rows[p] = std::int32_t(row);
        }
      }
  }
  return rows;
}

} // namespace nanobragg
