#include "test/Runtime/TestKernels.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

namespace nanobragg::test {
namespace {

enum Argument { Wavelength, FastPixels, SlowPixels, RoiSlowMin, RoiSlowMax };

constexpr nb_kernel_parameter waveParameters[] = {
    {"wavelength", NB_PARAMETER_F64, "m"},     {"fast_pixels", NB_PARAMETER_INDEX, "1"},
    {"slow_pixels", NB_PARAMETER_INDEX, "1"},  {"roi_slow_min", NB_PARAMETER_INDEX, "1"},
    {"roi_slow_max", NB_PARAMETER_INDEX, "1"},
};

struct Workspace {
  double wavelength;
  std::int64_t prepared;
};

std::int64_t index(const void *const *arguments, Argument which) {
  return *static_cast<const std::int64_t *>(arguments[which]);
}

std::int64_t workspaceSize(const void *const *) { return sizeof(Workspace); }

void prepare(const void *const *arguments, void *memory) {
  if (reinterpret_cast<std::uintptr_t>(memory) % 64)
    std::abort();
  *static_cast<Workspace *>(memory) = {*static_cast<const double *>(arguments[Wavelength]), 1};
}

void runTile(const void *const *arguments, const void *memory, const nb_tile *tile,
             void *const *outputs, void *, void *) {
  const auto &workspace = *static_cast<const Workspace *>(memory);
  if (workspace.prepared != 1)
    std::abort();
  const std::int64_t fastPixels = index(arguments, FastPixels);
  const std::int64_t slowPixels = index(arguments, SlowPixels);
  for (std::int64_t slow = tile->slow_begin; slow != tile->slow_end; ++slow) {
    const bool rendered =
        slow >= index(arguments, RoiSlowMin) && slow <= index(arguments, RoiSlowMax);
    float *row = static_cast<float *>(outputs[0]) + (tile->panel * slowPixels + slow) * fastPixels;
    for (std::int64_t fast = 0; fast != fastPixels; ++fast)
      row[fast] = rendered ? float(workspace.wavelength * double(1 + tile->panel) +
                                   std::sin(double(slow * fast)))
                           : 0.0f;
  }
}

void runTileSlowly(const void *const *arguments, const void *memory, const nb_tile *tile,
                   void *const *outputs, void *accumulator, void *scratch) {
  std::this_thread::sleep_for(std::chrono::milliseconds(tile->slow_end - tile->slow_begin));
  runTile(arguments, memory, tile, outputs, accumulator, scratch);
}

constexpr nb_kernel_output waveOutputs[] = {{"image", NB_OUTPUT_IMAGE, "photons"}};

constexpr nb_kernel_descriptor describe(decltype(nb_kernel_descriptor::run_tile) run) {
  return {NB_KERNEL_ABI_VERSION,
          sizeof(nb_kernel_descriptor),
          0,
          NB_IMAGE_F32,
          "wave",
          "",
          "host",
          "f64",
          std::size(waveParameters),
          waveParameters,
          1,
          waveOutputs,
          workspaceSize,
          prepare,
          run};
}

constexpr nb_kernel_descriptor wave = describe(runTile);
constexpr nb_kernel_descriptor slowWave = describe(runTileSlowly);

} // namespace

const nb_kernel_descriptor &waveKernel() { return wave; }
const nb_kernel_descriptor &slowKernel() { return slowWave; }

Experiment waveExperiment(std::int64_t slow, std::int64_t fast) {
  Experiment experiment;
  experiment.beam.wavelength = 2;
  experiment.detector.slowPixels = slow;
  experiment.detector.fastPixels = fast;
  experiment.detector.roiSlowMax = slow - 1;
  experiment.detector.roiFastMax = fast - 1;
  return experiment;
}

} // namespace nanobragg::test
