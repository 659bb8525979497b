// A GPU, for the rest of the runtime.
//
// Each vendor's driver stands behind this interface in a folder of its own: runtime/gpu/cuda,
// runtime/gpu/opencl. Nothing outside that folder includes a header of it (Vendors.h has the
// ways in), and nothing in it knows how a kernel is run: that is Runner's.
#ifndef NANOBRAGG_RUNTIME_GPU_DEVICE_H
#define NANOBRAGG_RUNTIME_GPU_DEVICE_H

#include "lib/Target/GpuVendor.h"
#include "nanobragg/DeviceChoice.h"
#include "runtime/gpu/ArgumentBlock.h"
#include "runtime/gpu/NoGpu.h"
#include "runtime/processor/KernelRunner.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace nanobragg::gpu {

/// The code of a kernel on a device.
class Module {
public:
  virtual ~Module() = default;
  /// Blocks of Entry::Render that the device can hold at a time.
  virtual std::int64_t residentBlocks() const = 0;
};

/// The part of a kernel that a launch runs, see nb_device_kernel.
enum class Entry { Render, Reduce };

struct Launch {
  Entry entry;
  std::int64_t blocks, threads; ///< the latter of a block
  /// Parameters: addresses, then numbers.
  std::span<const Address> pointers;
  std::span<const std::int64_t> numbers;
  /// Memory that the kernel finds by addresses in other memory.
  std::span<const Address> behind;
};

/// Commands that a device carries out one after another. To be used by one thread at a time. All
/// but the last one throw std::runtime_error; what a copy reads or writes on the host has to stay
/// until the next wait.
class Queue {
public:
  virtual ~Queue() = default;
  virtual void copyToDevice(Address to, const void *from, std::size_t bytes) = 0;
  virtual void copyToHost(void *to, Address from, std::size_t bytes) = 0;
  /// Fills with zeros.
  virtual void clear(Address to, std::size_t bytes) = 0;
  virtual void launch(const Module &module, const Launch &launch) = 0;
  /// Returns when all is done. `what` fails with it: "render".
  virtual void wait(const char *what) = 0;
  /// The same, whatever becomes of it.
  virtual void waitAnyway() noexcept = 0;
};

struct MemoryInfo {
  std::size_t free = 0, total = 0;
};

/// One GPU. Safe to use from several threads.
class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device() = default;
  /// The chip that its kernels are made for: "sm_90".
  virtual std::string chip() const = 0;
  /// Its maker's name for it: "NVIDIA H200".
  virtual std::string model() const = 0;
  /// For people: "NVIDIA H200 (cuda:0, sm_90)".
  virtual std::string describe() const = 0;

  /// Which device it is among those of DLPack.
  struct Place {
    int kind, number;
  };
  virtual Place place() const = 0;
  /// Waits for what others have queued on the device's default stream.
  virtual void waitForOthers() const {}
  /// Can kernels read there, whoever allocated it?
  virtual bool reaches(Address) const { return true; }

  /// 0: there is not so much. Throws std::runtime_error.
  virtual Address allocate(std::size_t bytes) const = 0;
  virtual void free(Address address) const noexcept = 0;
  /// Where the driver knows it, with other processes' memory counted as used.
  virtual MemoryInfo memory() const = 0;
  virtual std::unique_ptr<Queue> openQueue() = 0;

  /// One for all that run this kernel here. Throws std::runtime_error.
  std::shared_ptr<const Module> module(const KernelHandle &kernel);

  /// An object that several users share, as long as one of them holds it: `make` is called when
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

protected:
  /// The code of the kernel that fits the device. Throws std::runtime_error that says what chips
  /// the kernel is for, or what the driver is too old for.
  virtual std::shared_ptr<const Module> load(KernelHandle kernel) = 0;

private:
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const void>> things; ///< guarded by mutex
};

/// At least one. Several are alike: what one renders, each renders to the last bit.
using Devices = std::vector<std::shared_ptr<Device>>;

/// The GPUs of this choice, which is Kind::Gpu or Kind::Auto; the same objects as long as they are
/// in use. With no vendor they are of the first that is looked for unasked and has one. Throws
/// NoGpu with what the driver says, of several vendors the first.
Devices openDevices(const DeviceChoice &choice);
/// The first GPU of the vendor whose code the kernel holds. Throws NoGpu.
Devices openDevicesFor(const nb_kernel_descriptor &kernel);

} // namespace nanobragg::gpu
#endif
