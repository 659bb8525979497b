#include "tools/nb-sim/Timing.h"

#include "runtime/simulator/Placement.h"

#include <nlohmann/json.hpp>

#include <ctime>

namespace nanobragg {

ProcessStart::ProcessStart() {
  timespec used = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  cpuSecondsBefore = double(used.tv_sec) + double(used.tv_nsec) * 1e-9;
}

void Timing::record(Simulator &simulator, const SimulatorOptions &options, const RunResult &result,
                    const ProcessStart &start, double beforeRun) {
  const bool interpreted = simulator.engine() == Engine::Interpreter;
  engine = interpreted ? "interpreter" : "fused";
  precision =
      interpreted ? "f64" : toString(decide(simulator.experiment(), options).request.precision);
  target = interpreted ? "interpreter" : simulator.target(PixelType::F32);
  averages = simulator.averages();
  beforeMainCpuSeconds = start.cpuSecondsBefore;
  startupSeconds = beforeRun + result.firstTileSeconds;
  prepareSeconds = result.prepareSeconds;
  runSeconds = result.runSeconds;
  renderedSeconds = beforeRun + prepareSeconds + runSeconds;
  samples = simulator.samples();
  samplesLit = result.culled ? result.samplesLit : samples;
  samplesEvaluated = result.culled ? result.samplesEvaluated : samples;
  threads = result.threads;
  device = result.device;
  deviceBytes = result.deviceBytes;
  uploadedBytes = result.uploadedBytes;
  launches = result.launches;
  deviceSeconds = result.deviceSeconds;
}

std::string Timing::toJson() const {
  nlohmann::ordered_json json = {
      {"engine", engine},
      {"precision", precision},
      {"target", target},
      {"threads", threads},
      {"before_main_cpu_seconds", beforeMainCpuSeconds},
      {"startup_seconds", startupSeconds},
      {"cache_seconds", kernel.cacheSeconds},
      {"compiler_load_seconds", kernel.compilerLoadSeconds},
      {"compile_seconds", kernel.compileSeconds},
      {"prepare_seconds", prepareSeconds},
      {"run_seconds", runSeconds},
      {"output_seconds", totalSeconds - renderedSeconds},
      {"total_seconds", totalSeconds},
      {"samples", samples},
      {"samples_lit", samplesLit},
      {"samples_evaluated", samplesEvaluated},
      {"ns_per_sample", nsPerSample()},
      {"kernel_hits", kernel.hits},
      {"kernel_loads", kernel.loads},
      {"kernel_compiles", kernel.compiles},
  };
  if (!averages.empty())
    json["averages"] = averages;
  if (!device.empty()) {
    json["device_name"] = device;
    json["device_bytes"] = deviceBytes;
    json["uploaded_bytes"] = uploadedBytes;
    json["launches"] = launches;
    json["device_seconds"] = deviceSeconds;
  }
  return json.dump(2) + "\n";
}

} // namespace nanobragg
