#include "lib/Spots/Summation.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

/// a, b, c at the orientation of the image at which the spot is brightest.
std::array<Vec3, 3> realVectors(const Spot &spot, const io::DialsExperiment &image) {
  std::array<Vec3, 3> real = image.crystal->real;
  if (!image.scan || !image.goniometer)
    return real;
  const double start = units::radians(image.scan->start),
               end = start + units::radians(image.scan->width);
  for (Vec3 &v : real)
    v = rotatedAbout(image.goniometer->axis, std::clamp(spot.phi, start, end), v);
  return real;
}

const float *panelOf(const Spot &spot, const SpotImage &pixels) {
  const Detector &d = pixels.detector;
  return pixels.photons.data() + std::int64_t(spot.panel) * d.slowPixels * d.fastPixels;
}

double medianOfEdge(const Spot &spot, const float *panel, std::int64_t width) {
  const auto &[f0, f1, s0, s1] = spot.box;
  std::vector<float> edge;
  for (std::int64_t s = s0; s < s1; ++s)
    for (std::int64_t f = f0; f < f1; ++f)
      if (s == s0 || s == s1 - 1 || f == f0 || f == f1 - 1)
        edge.push_back(panel[s * width + f]);
  const auto middle = edge.begin() + std::ptrdiff_t(edge.size() / 2);
  std::nth_element(edge.begin(), middle, edge.end());
  return *middle;
}

/// Makes photons and centroid those of the light on pixels that count.
void leaveOutLost(Spot &spot, const std::array<double, 3> &covariance, const Detector &d) {
  constexpr int parts = 4; // along each edge of a pixel
  constexpr double ofPart = 1.0 / (12 * parts * parts), sigmas = 5, farthest = 1000; // pixels
  const double ff = covariance[0] + ofPart, fs = covariance[1], ss = covariance[2] + ofPart,
               det = ff * ss - fs * fs;
  const auto range = [&](double centre, double variance) {
    const double half = std::min(sigmas * std::sqrt(variance), farthest);
    return std::array{std::int64_t(std::floor(centre - half)),
                      std::int64_t(std::floor(centre + half))};
  };
  const auto [f0, f1] = range(spot.pixel[0], ff);
  const auto [s0, s1] = range(spot.pixel[1], ss);
  const std::int64_t fastPixels = d.panels.empty() ? d.fastPixels : d.panels[spot.panel].fastPixels,
                     slowPixels = d.panels.empty() ? d.slowPixels : d.panels[spot.panel].slowPixels;
  const std::int64_t fastEnd = std::min(d.roiFastMax + 1, fastPixels),
                     slowEnd = std::min(d.roiSlowMax + 1, slowPixels);
  if (d.mask.empty() && f0 >= d.roiFastMin && f1 < fastEnd && s0 >= d.roiSlowMin && s1 < slowEnd)
    return;
  const auto counts = [&](std::int64_t f, std::int64_t s) {
    if (f < d.roiFastMin || f >= fastEnd || s < d.roiSlowMin || s >= slowEnd)
      return false;
    const std::int64_t row = std::int64_t(spot.panel) * d.slowPixels + s;
    return d.mask.empty() || d.mask[std::size_t(row * d.fastPixels + f)] != 0;
  };
  double all = 0, counted = 0;
  std::array<double, 2> moments{};
  for (std::int64_t s = s0; s <= s1; ++s)
    for (std::int64_t f = f0; f <= f1; ++f) {
      double light = 0;
      for (int part = 0; part != parts * parts; ++part) {
        const int column = part % parts, row = part / parts;
        const double x = double(f) + (column + 0.5) / parts - spot.pixel[0],
                     y = double(s) + (row + 0.5) / parts - spot.pixel[1];
        light += std::exp(-(ss * x * x - 2 * fs * x * y + ff * y * y) / (2 * det));
      }
      all += light;
      if (!counts(f, s))
        continue;
      counted += light;
      moments[0] += light * (double(f) + 0.5);
      moments[1] += light * (double(s) + 0.5);
    }
  if (counted == all)
    return;
  spot.intensity *= counted / all;
  if (counted > 0)
    spot.centroid = {moments[0] / counted, moments[1] / counted};
}

} // namespace

void sumSpot(Spot &spot, const io::DialsExperiment &image, const SpotImage &pixels) {
  const io::DialsPanel &p = image.panels[spot.panel];
  const float *panel = panelOf(spot, pixels);
  const std::array<Vec3, 3> real = realVectors(spot, image);
  const Vec3 forward = scaled(image.beam.direction, -1);
  spot.background = pixels.background ? medianOfEdge(spot, panel, pixels.detector.fastPixels) : 0;
  const auto &[f0, f1, s0, s1] = spot.box;
  double light = 0;
  std::array<double, 2> moments{};
  for (std::int64_t s = s0; s < s1; ++s)
    for (std::int64_t f = f0; f < f1; ++f) {
      const Vec3 at = sum(p.origin, sum(scaled(p.fast, (double(f) + 0.5) * p.pixelSize[0]),
                                        scaled(p.slow, (double(s) + 0.5) * p.pixelSize[1])));
      const Vec3 q = scaled(difference(unit(at), forward), 1 / image.beam.wavelength);
      bool own = true;
      for (int i = 0; i < 3; ++i)
        own = own && std::fabs(dot(real[i], q) - spot.hkl[i]) <= 0.5;
      if (!own)
        continue;
      const double photons = panel[s * pixels.detector.fastPixels + f];
      spot.intensity += photons - spot.background;
      spot.variance += photons;
      spot.peak = std::max(spot.peak, photons);
      const double above = std::max(photons - spot.background, 0.0);
      light += above;
      moments[0] += above * (double(f) + 0.5);
      moments[1] += above * (double(s) + 0.5);
    }
  if (light > 0)
    spot.centroid = {moments[0] / light, moments[1] / light};
}

void lookAtSpot(Spot &spot, const std::array<double, 3> &covariance, const SpotImage &pixels) {
  leaveOutLost(spot, covariance, pixels.detector);
  const float *panel = panelOf(spot, pixels);
  const auto &[f0, f1, s0, s1] = spot.box;
  spot.background = pixels.background ? medianOfEdge(spot, panel, pixels.detector.fastPixels) : 0;
  spot.variance = spot.intensity + spot.background * double((f1 - f0) * (s1 - s0));
  for (std::int64_t s = s0; s < s1; ++s)
    for (std::int64_t f = f0; f < f1; ++f)
      spot.peak = std::max(spot.peak, double(panel[s * pixels.detector.fastPixels + f]));
}

} // namespace nanobragg
