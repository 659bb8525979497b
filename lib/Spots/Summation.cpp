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
  return pixels.photons.data() + std::int64_t(spot.panel) * pixels.slowPixels * pixels.fastPixels;
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

} // namespace

void sumSpot(Spot &spot, const io::DialsExperiment &image, const SpotImage &pixels) {
  const io::DialsPanel &p = image.panels[spot.panel];
  const float *panel = panelOf(spot, pixels);
  const std::array<Vec3, 3> real = realVectors(spot, image);
  const Vec3 forward = scaled(image.beam.direction, -1);
  spot.background = pixels.background ? medianOfEdge(spot, panel, pixels.fastPixels) : 0;
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
      const double photons = panel[s * pixels.fastPixels + f];
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

void lookAtSpot(Spot &spot, const SpotImage &pixels) {
  const float *panel = panelOf(spot, pixels);
  const auto &[f0, f1, s0, s1] = spot.box;
  spot.background = pixels.background ? medianOfEdge(spot, panel, pixels.fastPixels) : 0;
  spot.variance = spot.intensity + spot.background * double((f1 - f0) * (s1 - s0));
  for (std::int64_t s = s0; s < s1; ++s)
    for (std::int64_t f = f0; f < f1; ++f)
      spot.peak = std::max(spot.peak, double(panel[s * pixels.fastPixels + f]));
}

} // namespace nanobragg
