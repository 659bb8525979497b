#include "tools/nb-sim/Noise.h"

#include "lib/Experiment/Units.h"
#include "lib/Noise/NoiseImage.h"
#include "tools/shared/RunSetup.h"

namespace nanobragg {
namespace {

/// The photons that the noise is drawn from, and the generator.
struct Exposure {
  std::vector<float> photons; ///< where they are not the image
  io::Gain gain;
  NoiseModel model;

  Exposure(std::span<const double> light, const CommandLine &line, const Experiment &experiment)
      : photons(light.begin(), light.end()), model(noiseModel(line)) {
    const Detector &d = experiment.detector;
    gain = {d.gain, d.gainMap.values, light.empty() && !line.semantics.noisify};
    model.psfRadius = d.psfRadius;
    model.psfWidth = d.psfFwhm / d.pixelSize;
    if (!line.semantics.noisify)
      return;
    // As noisify holds them: the width in single precision, the radius by each pixel's photons.
    model.psfWidth = float(line.options.psfFwhm.value_or(units::fromMicrometres(46))) / d.pixelSize;
    model.psfRadius = line.options.psfRadius.value_or(0);
  }

  std::span<const float> image(std::span<const float> rendered) const {
    return photons.empty() ? rendered : photons;
  }
};

/// noisify knows no region.
io::ImageRegion regionOf(const CommandLine &line, const Experiment &experiment) {
  const Detector &d = experiment.detector;
  return line.semantics.noisify
             ? io::ImageRegion::whole(d.fastPixels, d.slowPixels, experiment.imagePanels())
             : io::ImageRegion::of(experiment);
}

} // namespace

io::NoiseImage noiseImageOf(const RenderedImage &image, const CommandLine &line,
                            CompleteExperiment &complete) {
  const Experiment &experiment = complete.experiment;
  const Exposure exposure(image.photons, line, experiment);
  // noisify is a program of its own, whose random numbers begin with its noise.
  if (line.semantics.noisify)
    complete.random = Ran1();
  return io::drawNoise(exposure.image(image.pixels), regionOf(line, experiment), exposure.gain,
                       exposure.model, line.options.adcOffset,
                       line.semantics.noisify ? Rule::C : line.semantics.noiseWrap,
                       {complete.random, complete.noiseSeed}, requestedThreads(line.tool));
}

std::vector<std::int32_t> countsOf(const RenderedImage &image, const CommandLine &line,
                                   const CompleteExperiment &complete) {
  if (!line.outputs.noise)
    return io::roundCounts(image.pixels);
  const Experiment &experiment = complete.experiment;
  const Exposure exposure(image.photons, line, experiment);
  // The numbers of the noise image: both have the same photons.
  Ran1 random = line.semantics.noisify ? Ran1() : complete.random;
  std::int64_t seed = complete.noiseSeed;
  return io::drawCounts(exposure.image(image.pixels), regionOf(line, experiment), exposure.gain,
                        exposure.model, {random, seed}, requestedThreads(line.tool));
}

} // namespace nanobragg
