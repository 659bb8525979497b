#include "lib/Picture/Annotations.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Picture/Glyphs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nanobragg {
namespace {

constexpr std::uint8_t ink = 150, paper = 0;
constexpr double niceRings[] = {100, 80, 60,  50,  40,  30,  25,  20,  15,  12,  10,  8,   6,
                                5,   4,  3.5, 3,   2.5, 2.2, 2,   1.8, 1.6, 1.5, 1.4, 1.3, 1.2,
                                1.1, 1,  0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05};

std::string numberOf(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

class Resolution {
public:
  explicit Resolution(const CompleteExperiment &complete)
      : beam(complete.experiment.beam.direction), wavelength(complete.report.wavelength * 1e10) {}
  /// 1/d in 1/A of a point, in m from the sample.
  double operator()(const Vec3 &at) const {
    return length(difference(unit(at), beam)) / wavelength;
  }

private:
  Vec3 beam;
  double wavelength;
};

/// Twice as large for pictures that are looked at from afar.
std::int64_t sizeOfText(const Picture &picture) {
  return std::max<std::int64_t>(1, std::min(picture.width, picture.height) / 500);
}

void drawRing(Picture &picture, const Layout &layout, const std::vector<float> &inverse, double d) {
  const std::vector<std::int32_t> &owners = layout.owners();
  // Between a panel and what is beside it there may be a step, which is not a part of a ring.
  const auto crosses = [&](std::size_t a, std::size_t b) {
    return owners[a] == owners[b] && (inverse[a] * d < 1) != (inverse[b] * d < 1);
  };
  for (std::int64_t y = 0; y + 1 < layout.height(); ++y)
    for (std::int64_t x = 0; x + 1 < layout.width(); ++x) {
      const std::size_t here = std::size_t(y * picture.width + x);
      if (crosses(here, here + 1) || crosses(here, here + std::size_t(picture.width)))
        picture.set(x, y, ink);
    }
}

/// The number stands where the ring is, going up, down, right or left from the beam.
void labelRing(Picture &picture, const std::vector<float> &inverse, std::size_t beam, double d) {
  const std::int64_t x0 = std::int64_t(beam) % picture.width,
                     y0 = std::int64_t(beam) / picture.width;
  const std::int64_t scale = sizeOfText(picture);
  const std::string text = numberOf(d) + " A";
  const std::int64_t width = widthOf(text, scale), height = glyphHeight * scale;
  for (const auto &[dx, dy] : {std::pair{0, -1}, {0, 1}, {1, 0}, {-1, 0}}) {
    std::int64_t x = x0, y = y0;
    while (x >= 0 && x < picture.width && y >= 0 && y < picture.height &&
           inverse[std::size_t(y * picture.width + x)] * d < 1) {
      x += dx;
      y += dy;
    }
    const std::int64_t left = x - width / 2, top = y - height / 2;
    if (left < 0 || top < 0 || left + width > picture.width || top + height > picture.height)
      continue;
    writeText(picture, left, top, text, scale, ink, paper);
    return;
  }
}

void drawScaleBar(Picture &picture, double pixelSize) {
  const double wanted = double(picture.width) * pixelSize * 1000 / 5; // mm
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  const double mm = power * (wanted / power >= 5 ? 5 : wanted / power >= 2 ? 2 : 1);
  const std::int64_t scale = sizeOfText(picture), margin = 8 * scale;
  const std::int64_t pixels = std::llround(mm / 1000 / pixelSize), thick = 2 * scale;
  const std::int64_t bottom = picture.height - margin;
  const std::int64_t top = bottom - thick - (glyphHeight + 2) * scale;
  for (std::int64_t y = top - scale; y < bottom + scale; ++y)
    for (std::int64_t x = margin - scale; x < margin + pixels + scale; ++x)
      picture.set(x, y, paper);
  for (std::int64_t y = bottom - thick; y < bottom; ++y)
    for (std::int64_t x = margin; x < margin + pixels; ++x)
      picture.set(x, y, ink);
  writeText(picture, margin, top, numberOf(mm) + " mm", scale, ink, paper);
}

} // namespace

std::vector<double> chooseRings(const Layout &layout, const CompleteExperiment &complete) {
  const Resolution resolution(complete);
  double farthest = 0;
  for (const auto &[x, y] : {std::pair{0, 1}, {2, 1}, {1, 0}, {1, 2}}) // middles of the edges
    farthest = std::max(farthest, resolution(layout.positionOf(x * (layout.width() - 1) / 2,
                                                               y * (layout.height() - 1) / 2, -1)));
  std::vector<double> rings;
  for (int i = 1; i <= 4; ++i) {
    const double wanted = farthest * i / 4.2;
    const double nearest = *std::ranges::min_element(
        niceRings, {}, [&](double d) { return std::fabs(1 / d - wanted); });
    if (1 / nearest < farthest && (rings.empty() || nearest < rings.back()))
      rings.push_back(nearest);
  }
  return rings;
}

void annotate(Picture &picture, const Layout &layout, const CompleteExperiment &complete,
              const std::vector<double> &rings) {
  const Resolution resolution(complete);
  std::vector<float> inverse(picture.tones.size());
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const std::size_t i = std::size_t(y * picture.width + x);
      inverse[i] = float(resolution(layout.positionOf(x, y, layout.owners()[i])));
    }
  for (const double d : rings)
    drawRing(picture, layout, inverse, d);
  const std::size_t beam = std::size_t(std::ranges::min_element(inverse) - inverse.begin());
  for (const double d : rings)
    labelRing(picture, inverse, beam, d);
  drawScaleBar(picture, layout.pixelSize());
}

} // namespace nanobragg
