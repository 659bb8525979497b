#include "runtime/processor/Reach.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {

void Reach::directionsOf(std::int64_t panel, std::int64_t row, Range columns,
                         Directions &into) const {
  const std::int64_t count = columns.last - columns.first + 1;
  into.kinds = std::int64_t(samplesPerPixel);
  into.stride = (count + loops::pixelsAtOnce - 1) / loops::pixelsAtOnce * loops::pixelsAtOnce;
  for (auto *axis : {&into.x, &into.y, &into.z})
    axis->resize(std::size_t(into.kinds * into.stride));
  const Vector common = points->common;
  const auto at = [&](std::int64_t kind, auto &&fill) {
    const auto from = std::size_t(kind * into.stride);
    fill(into.x.data() + from, into.y.data() + from, into.z.data() + from);
  };
  if (direction) {
    const std::int64_t first = (panel * slowPixels + row) * fastPixels + columns.first;
    for (std::int64_t kind = 0; kind != into.kinds; ++kind)
      at(kind, [&](float *x, float *y, float *z) {
        for (std::int64_t i = 0; i != into.stride; ++i) {
          const std::int64_t pixel = first + std::min(i, count - 1);
          const Vector d = vectorAt(direction + 3 * (pixel * into.kinds + kind)) - common;
          x[i] = float(d.x), y[i] = float(d.y), z[i] = float(d.z);
        }
      });
  } else {
    const FlatPanel &p = flat[std::size_t(panel)];
    const double size = pixelSize / double(oversample);
    for (std::int64_t kind = 0; kind != into.kinds; ++kind) {
      const std::int64_t subfast = kind % oversample, subslow = kind / oversample % oversample;
      const double depth = depths[std::size_t(kind / oversample / oversample)];
      const double f = size * (double(columns.first * oversample + subfast) + 0.5);
      const double s = size * (double(row * oversample + subslow) + 0.5);
      loops::Row line{};
      copy(p.origin + f * p.fast + s * p.slow + depth * p.normal, line.first);
      copy(pixelSize * p.fast, line.step);
      copy(common, line.common);
      line.lastPixel = count - 1;
      at(kind,
         [&](float *x, float *y, float *z) { loops::findDirections(line, into.stride, x, y, z); });
    }
  }
  into.longest = std::sqrt(double(loops::longestSquare(into.x.data(), into.y.data(), into.z.data(),
                                                       std::int64_t(into.x.size()))));
}

} // namespace nanobragg
