#include "runtime/gpu/Device.h"

#include "runtime/gpu/cuda/Open.h"
#include "runtime/gpu/hip/Open.h"
#include "runtime/gpu/opencl/Open.h"

#include <cstdio>
#include <optional>
#include <stdexcept>

namespace nanobragg::gpu {
namespace {

/// One per vendor, by what --device calls its GPUs.
struct Opener {
  std::string_view device;
  std::shared_ptr<Device> (*open)(int number);
};
constexpr Opener openers[] = {
    {"cuda", cuda::openDevice}, {"hip", hip::openDevice}, {"opencl", opencl::openDevice}};

std::shared_ptr<Device> openAnew(const GpuVendor &vendor, int number) {
  for (const Opener &opener : openers)
    if (opener.device == vendor.device)
      return opener.open(number);
  throw std::logic_error("no folder of runtime/gpu drives a " + std::string(vendor.device) +
                         " device");
}

} // namespace

std::shared_ptr<const Module> Device::module(const KernelHandle &kernel) {
  char key[40];
  std::snprintf(key, sizeof key, "module %p", static_cast<const void *>(kernel.get()));
  return shared<const Module>(key, [&] { return load(kernel); });
}

std::shared_ptr<Device> openDevice(const GpuVendor &vendor, int number) {
  using Devices = std::map<std::pair<std::string_view, int>, std::weak_ptr<Device>>;
  static std::mutex opening;
  static Devices &devices = *new Devices;
  std::lock_guard lock(opening);
  std::weak_ptr<Device> &known = devices[{vendor.device, number}];
  if (auto found = known.lock())
    return found;
  std::shared_ptr<Device> device = openAnew(vendor, number);
  known = device;
  return device;
}

std::shared_ptr<Device> openAnyDevice() {
  std::optional<NoGpu> first;
  for (const GpuVendor &vendor : gpuVendors()) {
    if (!vendor.automatic)
      continue;
    try {
      return openDevice(vendor, 0);
    } catch (const NoGpu &none) {
      if (!first)
        first = none;
    }
  }
  throw *first;
}

std::shared_ptr<Device> openDeviceFor(const nb_kernel_descriptor &kernel) {
  const GpuVendor *vendor =
      kernel.device->num_codes ? vendorOfChip(kernel.device->codes[0].chip) : nullptr;
  return vendor ? openDevice(*vendor, 0) : openAnyDevice();
}

} // namespace nanobragg::gpu
