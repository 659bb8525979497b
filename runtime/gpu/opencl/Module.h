// A kernel's code on a device.
#ifndef NANOBRAGG_RUNTIME_OPENCL_MODULE_H
#define NANOBRAGG_RUNTIME_OPENCL_MODULE_H

#include "runtime/gpu/opencl/Device.h"

#include <mutex>

namespace nanobragg::opencl {

/// The SPIR-V of a kernel, which the device's runtime has compiled.
class Module : public gpu::Module {
public:
  /// Throws std::runtime_error where the kernel has no SPIR-V or the runtime refuses it.
  Module(std::shared_ptr<const Device> device, KernelHandle kernel);
  ~Module() override;
  Module(const Module &) = delete;

  std::int64_t residentBlocks() const override;
  /// Queues the launch: its arguments are part of the kernel until then.
  void launchOn(CommandQueue queue, const gpu::Launch &launch) const;

private:
  void build(const nb_device_code &code);
  Kernel find(const char *name) const;
  void checkSubGroups() const;
  void release() noexcept;

  std::shared_ptr<const Device> device;
  const Driver &driver;
  KernelHandle kernel;
  Program program = nullptr;
  Kernel entryKernel = nullptr, reduceKernel = nullptr;
  mutable std::mutex launching;
};

} // namespace nanobragg::opencl
#endif
