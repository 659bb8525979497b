// One GPU.
#ifndef NANOBRAGG_RUNTIME_CUDA_DEVICE_H
#define NANOBRAGG_RUNTIME_CUDA_DEVICE_H

#include "runtime/gpu/Device.h"
#include "runtime/gpu/cuda/Driver.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace nanobragg::cuda {

/// A GPU with its primary context, which other users of CUDA in the process share. All that is on
/// the device holds on to it. Safe to use from several threads.
class Device : public gpu::Device, public std::enable_shared_from_this<Device> {
public:
  /// The one of this number; the same object as long as one is in use. Throws NoGpu.
  static std::shared_ptr<Device> open(int number);
  ~Device() override;
  Device(const Device &) = delete;

  const Driver &driver() const { return api; }
  /// Compute capability 9.0 is 90.
  int capability() const { return 10 * major + minor; }
  int multiprocessors() const { return processors; }
  /// "sm_90".
  std::string chip() const override { return "sm_" + std::to_string(capability()); }
  /// "NVIDIA H200 (cuda:0, sm_90)".
  std::string describe() const override;
  std::unique_ptr<gpu::Runner> load(KernelHandle kernel) override;

  /// Makes the context the calling thread's until popContext, where nothing may be thrown.
  bool push() const noexcept { return api.pushContext(context) == Result::Success; }

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

  struct MemoryInfo {
    std::size_t free = 0, total = 0;
  };
  /// With other processes' memory counted as used.
  MemoryInfo memory() const;

  /// What is the same for several users, as long as one of them holds it: `make` is called when
  /// none does. Keys of different kinds of things differ; T is const.
  template <typename T, typename Make>
  std::shared_ptr<T> shared(const std::string &key, Make make) {
    std::lock_guard lock(mutex);
    if (const auto found = things.find(key); found != things.end())
      if (auto thing = std::static_pointer_cast<T>(found->second.lock()))
        return thing;
    std::erase_if(things, [](const auto &thing) { return thing.second.expired(); });
    std::shared_ptr<T> made = make();
    things[key] = made;
    return made;
  }
  /// Null when it has no owner.
  template <typename T>
  std::shared_ptr<T> find(const std::string &key) {
    std::lock_guard lock(mutex);
    const auto found = things.find(key);
    return found == things.end() ? nullptr : std::static_pointer_cast<T>(found->second.lock());
  }

private:
  Device(const Driver &api, int number);

  const Driver &api;
  const int number;
  Ordinal ordinal = 0;
  Context context = nullptr;
  std::string model;
  int major = 0, minor = 0, processors = 0;
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const void>> things; ///< guarded by mutex
};

} // namespace nanobragg::cuda
#endif
