#include "tools/nb-sim/LightMap.h"

#include "lib/Experiment/FactorsByEnergy.h"
#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Images/NpyFile.h"
#include "nanobragg/SpotOfPixel.h"
#include "tools/nb-sim/DialsExperimentOf.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nanobragg {
namespace {

/// Without background, diffuse scattering and what the detector makes of photons.
Experiment braggAlone(Experiment e) {
  e.variant.leaveOutResponse();
  e.detector.gainMap.values.clear();
  e.variant.background = e.variant.diffuse = false;
  e.waterSize = 0;
  return e;
}

/// All structure factors are 1.
Experiment withoutFactors(Experiment e) {
  Crystal &c = e.crystal;
  e.variant.structureFactors = StructureFactors::Constant;
  e.variant.anomalousKinds = 0;
  c.grid.reset();
  c.sheets.reset();
  c.energyNodes.values.clear();
  c.fPrime.clear();
  c.fDoublePrime.clear();
  c.defaultF = 1;
  return e;
}

/// A still of one domain whose lattice factor is at its peak everywhere: a spot without an edge.
/// The light then depends on fluence, solid angle, polarization and absorption.
Experiment atThePeak(Experiment e) {
  e.variant.shape = CrystalShape::Tophat;
  e.variant.spotMetric = Rule::Right;
  e.crystal.fudge = 0;
  e.crystal.ncellsCross = {};
  e.variant.averaging = Averaging::Sampled;
  e.variant.mosaicity = Mosaicity::Ball;
  e.crystal.mosaicSpread = 0;
  e.crystal.mosaicAxis = {{0, 0, 0}};
  e.crystal.mosaicUnitAngle = {0};
  e.variant.bandwidth = Bandwidth::None;
  e.variant.sweep = false;
  e.variant.divergence = Divergence::Uniform;
  e.beam.hdivRange = e.beam.vdivRange = 0;
  e.goniometer.phiSteps = 1;
  e.average = {};
  return e;
}

/// The wavelengths of the sources, in A.
std::vector<double> wavelengthsOf(const Experiment &e) {
  std::vector<double> wavelengths = sourceEnergies(e);
  for (double &value : wavelengths)
    value = units::wavelengthFromEnergy(value) * 1e10;
  return wavelengths;
}

/// The mean wavelength of the light of each pixel; where there is none, that of the beam. Light is
/// linear in the weights of sources, so it is the quotient of two images.
std::vector<double> meanWavelengths(const Experiment &bragg, const std::vector<float> &light,
                                    const auto &render) {
  const std::vector<double> wavelengths = wavelengthsOf(bragg);
  const std::vector<double> &weights = bragg.beam.sourceWeight;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double moment =
      std::inner_product(weights.begin(), weights.end(), wavelengths.begin(), 0.0);
  std::vector<double> means(light.size(), moment / sum);
  const auto [shortest, longest] = std::ranges::minmax_element(wavelengths);
  if (*shortest == *longest)
    return means;
  Experiment weighted = bragg;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weighted.beam.sourceWeight[i] *= wavelengths[i];
  const std::vector<float> byWavelength = render(weighted);
  for (std::size_t p = 0; p < light.size(); ++p)
    if (std::isnormal(light[p]))
      means[p] = std::clamp(double(byWavelength[p]) / light[p] * moment / sum, *shortest, *longest);
  return means;
}

/// From the sample to the centre of each pixel, unit.
template <typename Visit>
void forEachPixel(const io::DialsExperiment &model, const Detector &d, Visit visit) {
  std::size_t pixel = 0;
  for (const io::DialsPanel &panel : model.panels)
    for (std::int64_t s = 0; s < d.slowPixels; ++s)
      for (std::int64_t f = 0; f < d.fastPixels; ++f)
        visit(pixel++, unit(sum(panel.origin,
                                sum(scaled(panel.fast, (double(f) + 0.5) * panel.pixelSize[0]),
                                    scaled(panel.slow, (double(s) + 0.5) * panel.pixelSize[1])))));
}

} // namespace

void LightMap::add(const CompleteExperiment &complete, const CommandLine &line, double weight,
                   const RunSetup &setup, KernelProvider &kernels) {
  const auto render = [&](const Experiment &experiment) {
    Simulator simulator(experiment, setup.simulatorOptions(kernels));
    std::vector<float> image(simulator.pixels());
    simulator.render(std::span<float>(image));
    return image;
  };
  const io::DialsExperiment model = simulatedExperiment(complete, line, setup.loaded, 0);
  const Experiment bragg = braggAlone(complete.experiment);
  const Detector &d = bragg.detector;
  const std::vector<float> light = render(bragg);
  const std::size_t pixels = light.size();
  if (values.empty()) {
    shape = {5, std::size_t(d.slowPixels), std::size_t(d.fastPixels)};
    if (!d.panels.empty())
      shape.insert(shape.begin() + 1, d.panels.size());
    values.resize(5 * pixels);
    brightest.assign(pixels, -1);
  }
  const auto take = [&](const std::vector<double> &wavelengths, const auto &partiality) {
    forEachPixel(model, d, [&](std::size_t p, const Vec3 &direction) {
      const float photons = float(light[p] * weight);
      if (!(photons > brightest[p]))
        return;
      brightest[p] = photons;
      const Vec3 q = scaled(sum(direction, model.beam.direction), 1 / wavelengths[p]);
      for (int i = 0; i < 3; ++i)
        values[i * pixels + p] = float(dot(model.crystal->real[i], q));
      values[3 * pixels + p] = float(wavelengths[p]);
      values[4 * pixels + p] = partiality(p);
    });
  };
  if (bragg.variant.bandwidth == Bandwidth::Spectrum) {
    const ReflectionTable table = Simulator(bragg, setup.simulatorOptions(kernels)).reflections();
    const std::vector<std::int32_t> rows =
        brightestRows(table, bragg.panelCount(), d.slowPixels, d.fastPixels);
    const auto ofRow = [&](std::size_t p, std::string_view name, double otherwise) {
      return rows[p] < 0 ? otherwise : table.column(name)[std::size_t(rows[p])];
    };
    std::vector<double> wavelengths;
    for (std::size_t p = 0; p != pixels; ++p)
      wavelengths.push_back(ofRow(p, "wavelength", bragg.beam.wavelength) * 1e10);
    take(wavelengths, [&](std::size_t p) { return float(ofRow(p, "partiality", 0)); });
    return;
  }
  const Experiment lattice = withoutFactors(bragg);
  const std::vector<float> factors = render(lattice), peaks = render(atThePeak(lattice));
  const double height = bragg.variant.shape == CrystalShape::Round ? constants::roundHeight : 1;
  take(meanWavelengths(bragg, light, render), [&](std::size_t p) {
    return peaks[p] > 0 ? float(factors[p] / peaks[p] / (height * height)) : 0;
  });
}

void LightMap::write(io::OutputFile &out) const { io::writeNpy(out, shape, values); }

} // namespace nanobragg
