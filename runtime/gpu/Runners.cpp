#include "runtime/gpu/Runners.h"

#include <algorithm>

namespace nanobragg::gpu {
namespace {

/// Adds up the results of devices that worked side by side.
void add(RunResult &all, const RunResult &one) {
  all.device += (all.device.empty() ? "" : ", ") + one.device;
  all.deviceBytes += one.deviceBytes;
  all.uploadedBytes += one.uploadedBytes;
  all.launches += one.launches;
  all.deviceSeconds = std::max(all.deviceSeconds, one.deviceSeconds);
  all.firstTileSeconds = std::max(all.firstTileSeconds, one.firstTileSeconds);
}

} // namespace

Runners::Runners(KernelHandle handle, const Devices &devices) : kernel(std::move(handle)) {
  for (const auto &device : devices)
    runners.push_back(std::make_unique<Runner>(kernel, device));
}

/// Is what lies on the device already what the kernel will read, and is it complete?
void Runners::checkOnDevice(const void *const *arguments, const ImageShape &shape,
                            const RunOptions &options) const {
  if (options.onDevice.empty() && !options.keepImage)
    return;
  const Device &device = runners.front()->where();
  if (runners.size() > 1)
    throw std::invalid_argument("arrays in the memory of a GPU are for one GPU, and there are " +
                                std::to_string(runners.size()) +
                                "; name one in place of all, or give arrays of the host");
  for (const auto &[name, memory] : options.onDevice) {
    const nb_kernel_parameter *const end = kernel->parameters + kernel->num_parameters;
    const nb_kernel_parameter *const found = std::find_if(
        kernel->parameters, end, [&](const auto &p) { return p.name == name && isLarge(p.kind); });
    if (found == end)
      throw std::invalid_argument("the program reads no array '" + name + "'");
    const auto [kind, number] = device.place();
    if (memory.kind != kind || memory.number != number || !device.reaches(memory.address))
      throw std::invalid_argument("the array '" + name + "' is not in the memory of " +
                                  device.describe() + ", which runs the program; move it there");
    const std::size_t wanted =
        valueBytes(*kernel, arguments, std::uint32_t(found - kernel->parameters), shape);
    if (memory.bytes != wanted)
      throw std::invalid_argument("the array '" + name + "' has " + std::to_string(memory.bytes) +
                                  " bytes and the program reads " + std::to_string(wanted));
  }
  device.waitForOthers();
}

RunResult Runners::run(const void *const *arguments, const ImageShape &shape,
                       const RenderedRows &rows, void *const *outputs, const RunOptions &options) {
  checkOnDevice(arguments, shape, options);
  const Stopwatch sinceCall;
  const RunPlan plan(*kernel, arguments, shape, runners.front()->residentBlocks(),
                     int(runners.size()));
  RunResult result;
  result.prepareSeconds = sinceCall.seconds();
  result.workspaceBytes = plan.workspaceBytes;
  Deal deal(*kernel, plan, arguments, rows, options);
  const std::size_t count = std::min(runners.size(), deal.size());
  result.accumulatorBytes = std::int64_t(count * plan.accumulatorsBytes());

  const Stopwatch sinceUpload;
  std::vector<RunResult> results(count);
  const auto work = [&](std::int64_t i, int) {
    try {
      const Runner::Run run{plan, arguments, outputs, options, sinceCall, count};
      results[std::size_t(i)] = runners[std::size_t(i)]->run(run, deal);
    } catch (...) {
      deal.stop();
      throw;
    }
  };
  try {
    ThreadTeam(int(count)).forEach(std::int64_t(count), work);
  } catch (...) {
    for (const auto &runner : runners)
      runner->release();
    throw;
  }
  for (const RunResult &one : results)
    add(result, one);
  result.image = results.front().image;
  if (const LitBatches *lists = deal.lists()) {
    result.culled = true;
    result.samplesLit = lists->samplesLit();
    result.samplesEvaluated = lists->samplesEvaluated();
  }
  if (deal.stops()) {
    result.cancelled = true;
    return result;
  }
  if (plan.sums)
    kernel->finish(arguments, plan.workspace.get(), deal.allSums(), std::int64_t(deal.size()),
                   outputs);
  result.runSeconds = sinceUpload.seconds();
  if (options.progress)
    options.progress(1);
  return result;
}

} // namespace nanobragg::gpu
