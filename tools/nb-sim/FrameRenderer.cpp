#include "tools/nb-sim/FrameRenderer.h"

#include "lib/Inputs/SpectrumInput.h"
#include "lib/Trace/Trace.h"
#include "nanobragg/Simulator.h"
#include "tools/nb-sim/DialsExperimentOf.h"
#include "tools/nb-sim/SpotLabels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace nanobragg {

template <typename T>
static void add(std::vector<T> &sum, const std::vector<T> &more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (std::size_t p = 0; p < more.size(); ++p)
    sum[p] += more[p];
}

void RenderedFrame::addUp() {
  for (std::size_t k = 1; k < lattices.size(); ++k) {
    add(lattices.front().image, lattices[k].image);
    add(lattices.front().photons, lattices[k].photons);
  }
}

CompleteExperiment FrameRenderer::complete(const CommandLine &ofFrame, const FrameLattice &lattice,
                                           std::int64_t frame) {
  CommandLine line = ofFrame;
  if (setup.loaded.hasSpectraOfShots)
    replaceSpectrum(*line.files.spectrum, std::size_t(frame), setup.loaded, line.options, inputs);
  applyShot(lattice.own, line);
  if (lattice.matrix)
    inputs.matrix = *lattice.matrix;
  applyMaterials(line.files, inputs);
  return chooseDefaults(line.options, inputs, setup.line.semantics);
}

SimulatorOptions FrameRenderer::optionsOf() const {
  SimulatorOptions options = setup.simulatorOptions(kernels);
  options.once = plan.count() == 1;
  return options;
}

void FrameRenderer::prepare() {
  const Frame frame = plan.frame(0);
  Simulator(complete(frame.line, frame.lattices.front(), 0).experiment, optionsOf())
      .prepare(PixelType::F32);
}

RenderedFrame FrameRenderer::render(std::int64_t i) {
  trace::Span span("run", "image");
  span.explain([&] { return std::to_string(i + 1); });
  Frame frame = plan.frame(i);
  RenderedFrame result{std::move(frame.line), {}, {}};
  bool wet = false;
  for (const FrameLattice &lattice : frame.lattices) {
    CompleteExperiment one = complete(result.line, lattice, i);
    const std::size_t pixels = std::size_t(one.experiment.pixelCount());
    if (!lattice.there) {
      result.lattices.push_back({std::move(one), std::vector<float>(pixels), {}});
      continue;
    }
    if (std::exchange(wet, true)) { // there is one drop of water, and one of each material
      one.experiment.waterSize = 0;
      one.experiment.variant.background = false;
    }
    // The weight is that of the crystal: what else is on its image is divided by it first.
    const double weight = lattice.own.weight;
    one.experiment.background.area /= weight;
    one.experiment.waterSize /= std::cbrt(weight);
    Simulator simulator(one.experiment, optionsOf());
    if (!std::exchange(told, true)) {
      simulator.prepare(PixelType::F32);
      setup.tellFallbacks(simulator, "renders");
    }
    std::vector<float> image(simulator.pixels());
    const RunResult run = simulator.render(std::span<float>(image));
    seconds += run.prepareSeconds + run.runSeconds;
    if (!run.shortfall.empty() && !std::exchange(shortfallTold, true))
      std::fprintf(stderr, "WARNING: %s\n", run.shortfall.c_str());
    std::vector<double> photons(simulator.photons().begin(), simulator.photons().end());
    if (weight != 1) {
      for (float &pixel : image)
        pixel = float(double(pixel) * weight);
      for (double &pixel : photons)
        pixel *= weight;
    }
    if (setup.line.outputs.mapFile)
      result.map.add(one, result.line, weight, setup, kernels);
    ReflectionTable table;
    if (SpotLabels::takesTable(setup.line, one.experiment)) {
      table = simulator.reflections();
      for (double &light : table.columns[0])
        light *= weight;
    }
    result.lattices.push_back(
        {std::move(one), std::move(image), std::move(photons), std::move(table)});
  }
  return result;
}

io::DialsExperiment FrameRenderer::describe(const CompleteExperiment &lattice,
                                            const CommandLine &line, std::int64_t frames) const {
  return dialsExperimentOf(lattice, line, setup.loaded, plan.stills() ? 0 : frames);
}

std::vector<io::DialsExperiment> FrameRenderer::describe(std::int64_t i, std::int64_t frames) {
  const Frame frame = plan.frame(i);
  std::vector<io::DialsExperiment> lattices;
  for (const FrameLattice &lattice : frame.lattices)
    lattices.push_back(describe(complete(frame.line, lattice, i), frame.line, frames));
  return lattices;
}

io::DialsExperiment FrameRenderer::model(const CompleteExperiment &lattice,
                                         const CommandLine &line) const {
  return simulatedExperiment(lattice, line, setup.loaded, plan.stills() ? 0 : 1);
}

io::DialsExperiment FrameRenderer::model(std::int64_t i, std::size_t lattice) {
  const Frame frame = plan.frame(i);
  return model(complete(frame.line, frame.lattices[lattice], i), frame.line);
}

} // namespace nanobragg
