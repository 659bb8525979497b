// The frames of a series, rendered.
#ifndef NANOBRAGG_NBSIM_FRAMERENDERER_H
#define NANOBRAGG_NBSIM_FRAMERENDERER_H

#include "lib/Formats/DialsExperiment.h"
#include "nanobragg/Reflections.h"
#include "tools/nb-sim/FramePlan.h"
#include "tools/nb-sim/LightMap.h"

#include <cstdint>
#include <vector>

namespace nanobragg {

/// A crystal's light on a frame.
struct RenderedLattice {
  CompleteExperiment complete;
  std::vector<float> image;
  std::vector<double> photons; ///< with point spread, see Simulator::photons()
  ReflectionTable table{};     ///< where labels take one
};

struct RenderedFrame {
  CommandLine line; ///< for a run of its own
  std::vector<RenderedLattice> lattices;
  LightMap map;

  /// Adds the light of all to that of the first.
  void addUp();
};

/// To be used by one thread.
class FrameRenderer {
public:
  FrameRenderer(const RunSetup &setup, KernelProvider &kernels, const FramePlan &plan)
      : setup(setup), kernels(kernels), plan(plan), inputs(setup.loaded.inputs) {}

  /// Makes the kernel of the images now.
  void prepare();
  RenderedFrame render(std::int64_t frame);
  /// Each lattice of a frame as DIALS is told of it. `frames`: of the scan, if there is one.
  std::vector<io::DialsExperiment> describe(std::int64_t frame, std::int64_t frames);
  /// The same of one that was rendered.
  io::DialsExperiment describe(const CompleteExperiment &lattice, const CommandLine &line,
                               std::int64_t frames) const;
  /// Where its spots are predicted.
  io::DialsExperiment model(const CompleteExperiment &lattice, const CommandLine &line) const;
  io::DialsExperiment model(std::int64_t frame, std::size_t lattice);
  /// In all frames so far.
  double kernelSeconds() const { return seconds; }

private:
  CompleteExperiment complete(const CommandLine &line, const FrameLattice &lattice,
                              std::int64_t frame);
  SimulatorOptions optionsOf() const;

  const RunSetup &setup;
  KernelProvider &kernels;
  const FramePlan &plan;
  Inputs inputs; ///< with the matrix and the spectrum of the frame at hand
  bool told = false, shortfallTold = false;
  double seconds = 0;
};

} // namespace nanobragg
#endif
