#include "runtime/gpu/DevicePlacement.h"

#include "runtime/gpu/cuda/Device.h"

namespace nanobragg {

void findDevice(KernelRequest &request) {
  using Kind = DeviceChoice::Kind;
  if (request.engine == Engine::Interpreter)
    return;
  if (request.choice.kind == Kind::GpuOnCpu)
    request.target = "gpu-on-cpu";
  // A kernel file says itself what it is for; its GPU is found when it is run.
  const bool open = request.choice.kind == Kind::Cuda ||
                    (request.choice.kind == Kind::Auto && request.file.empty());
  if (!open)
    return;
  try {
    request.gpu = cuda::Device::open(request.choice.number);
    request.target = request.gpu->chip();
  } catch (const cuda::NoGpu &) {
    if (request.choice.kind == Kind::Cuda)
      throw;
  }
}

KernelRequest onProcessor(KernelRequest request) {
  request.choice = {DeviceChoice::Kind::Cpu};
  request.gpu = nullptr;
  request.target = "native";
  return request;
}

} // namespace nanobragg
