// One GPU.
#ifndef NANOBRAGG_RUNTIME_CUDA_DEVICE_H
#define NANOBRAGG_RUNTIME_CUDA_DEVICE_H

#include "runtime/gpu/Device.h"
#include "runtime/gpu/cuda/Driver.h"

#include <string>

namespace nanobragg::cuda {

/// A GPU with its primary context, which other users of the driver in the process share. All that
/// is on the device holds on to it. Safe to use from several threads.
class Device : public gpu::Device {
public:
  /// Throws NoGpu.
  Device(const Driver &driver, int number);
  ~Device() override;
  Device(const Device &) = delete;

  const Driver &driver() const { return api; }
  int multiprocessors() const { return processors; }
  std::string chip() const override { return nameOfChip; }
  std::string model() const override { return name; }
  std::string describe() const override;
  Place place() const override { return {api.make->dlpack, number}; }
  void waitForOthers() const override;
  Address allocate(std::size_t bytes) const override;
  void free(Address address) const noexcept override;
  gpu::MemoryInfo memory() const override;
  std::unique_ptr<gpu::Queue> openQueue() override;

  /// Makes the context the calling thread's for as long as it lives. The driver's functions that
  /// allocate, copy and launch need that.
  class Current {
  public:
    explicit Current(const Device &device) : device(device) {
      device.api.check(device.api.pushContext(device.context), "be made current");
    }
    ~Current() {
      Context ignored;
      device.api.popContext(&ignored);
    }
    Current(const Current &) = delete;

  private:
    const Device &device;
  };

  /// Calls `act` with the context where that can be had: in destructors, where nothing may be
  /// thrown.
  template <typename Act>
  void withContext(Act act) const noexcept {
    if (api.pushContext(context) != Result::Success)
      return;
    act();
    Context ignored;
    api.popContext(&ignored);
  }

protected:
  std::shared_ptr<const gpu::Module> load(KernelHandle kernel) override;

private:
  const Driver &api;
  const int number;
  Ordinal ordinal = 0;
  Context context = nullptr;
  std::string name, nameOfChip;
  int processors = 0;
};

} // namespace nanobragg::cuda
#endif
