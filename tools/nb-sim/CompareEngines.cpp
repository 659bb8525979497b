#include "tools/nb-sim/CompareEngines.h"

#include "lib/Experiment/Parameters.h"
#include "lib/CommandLine/UsageError.h"

namespace nanobragg {

bool compareEngines(const RunSetup &setup, KernelProvider &kernels, std::FILE *out) {
  const ToolOptions &tool = setup.line.tool;
  if (tool.device.kind == DeviceChoice::Kind::Cuda)
    throw UsageError("--compare-engines is about the processor's kernels; --device=gpu-on-cpu has "
                     "it compare a GPU's program");
  KernelRequest request = setup.kernelRequest();
  request.noFuse = false;
  // The kernel itself is compiled anew by the comparison; this one says which arguments it takes.
  const KernelHandle kernel = kernels.get(request);
  const BoundParameters parameters(*kernel, setup.derived.experiment);

  nb_compare_options options = {};
  options.rtol = tool.engineTolerance[0];
  options.atol_of_max = tool.engineTolerance[1];
  options.every_stage = tool.compareStages;
  options.threads = requestedThreads(tool);
  const EngineComparison comparison =
      kernels.compiler()->compareEngines(request, parameters.arguments(), options);
  std::fwrite(comparison.report.data(), 1, comparison.report.size(), out);
  return !comparison.differ;
}

} // namespace nanobragg
