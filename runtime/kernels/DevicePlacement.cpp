#include "runtime/kernels/DevicePlacement.h"

#include "runtime/gpu/Device.h"

namespace nanobragg {

void findDevice(KernelRequest &request) {
  using Kind = DeviceChoice::Kind;
  if (request.engine == Engine::Interpreter)
    return;
  if (request.choice.kind == Kind::GpuOnCpu)
    request.target = {.kind = KernelTarget::Kind::GpuOnCpu, .warp = request.choice.warp};
  // A kernel file says itself what it is for; its GPU is found when it is run.
  const bool open = request.choice.kind == Kind::Gpu ||
                    (request.choice.kind == Kind::Auto && request.file.empty());
  if (!open)
    return;
  try {
    request.gpus = gpu::openDevices(request.choice);
    request.target = KernelTarget::fromString(request.gpus.front()->chip());
  } catch (const gpu::NoGpu &) {
    if (request.choice.kind == Kind::Gpu)
      throw;
  }
}

KernelRequest onProcessor(KernelRequest request) {
  request.choice = {DeviceChoice::Kind::Cpu};
  request.gpus.clear();
  request.target = {};
  return request;
}

} // namespace nanobragg
