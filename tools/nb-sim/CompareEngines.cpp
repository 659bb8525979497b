#include "tools/nb-sim/CompareEngines.h"

#include "lib/Experiment/BoundParameters.h"

namespace nanobragg {

bool compareEngines(const RunSetup &setup, KernelProvider &kernels, std::FILE *out) {
  const ToolOptions &tool = setup.line.tool;
  KernelRequest request = setup.kernelRequest();
  request.engine = Engine::Fused;
  // The kernel itself is compiled anew by the comparison; this one says which arguments it takes.
  const KernelHandle kernel = kernels.get(request);
  const BoundParameters parameters(*kernel, setup.complete.experiment);

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
