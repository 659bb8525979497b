// One device of OpenCL's.
#ifndef NANOBRAGG_RUNTIME_OPENCL_DEVICE_H
#define NANOBRAGG_RUNTIME_OPENCL_DEVICE_H

#include "runtime/gpu/Device.h"
#include "runtime/gpu/opencl/Driver.h"

#include <string>

namespace nanobragg::opencl {

/// A GPU or a processor with a context of its own. Its memory is shared virtual memory of coarse
/// grain, in which addresses are the same for host and device. Safe to use from several threads.
class Device : public gpu::Device {
public:
  /// Throws NoGpu.
  explicit Device(int number);
  ~Device() override;
  Device(const Device &) = delete;

  const Driver &driver() const { return api; }
  Context context() const { return own; }
  DeviceId id() const { return device; }
  int computeUnits() const { return units; }
  /// "spirv64": what is compiled for one is for all.
  std::string chip() const override { return "spirv64"; }
  std::string model() const override { return name; }
  std::string describe() const override;
  Place place() const override { return {4, number}; }
  /// Memory of this context alone.
  bool reaches(Address address) const override;
  Address allocate(std::size_t bytes) const override;
  void free(Address address) const noexcept override;
  gpu::MemoryInfo memory() const override;
  std::unique_ptr<gpu::Queue> openQueue() override;

protected:
  std::shared_ptr<const gpu::Module> load(KernelHandle kernel) override;

private:
  void checkAbilities() const;

  const Driver &api;
  const int number;
  DeviceId device = nullptr;
  Context own = nullptr;
  std::string name;
  mutable std::mutex mutex;
  mutable std::map<Address, std::size_t> allocated; ///< guarded by mutex
  int units = 0;
};

} // namespace nanobragg::opencl
#endif
