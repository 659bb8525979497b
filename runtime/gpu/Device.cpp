#include "runtime/gpu/Device.h"

#include "runtime/gpu/cuda/Open.h"

#include <optional>
#include <stdexcept>

namespace nanobragg::gpu {
namespace {

/// One per vendor, by what --device calls its GPUs.
struct Opener {
  std::string_view device;
  std::shared_ptr<Device> (*open)(int number);
};
constexpr Opener openers[] = {{"cuda", cuda::openDevice}};

} // namespace

std::shared_ptr<Device> openDevice(const GpuVendor &vendor, int number) {
  for (const Opener &opener : openers)
    if (opener.device == vendor.device)
      return opener.open(number);
  throw std::logic_error("no folder of runtime/gpu drives a " + std::string(vendor.device) +
                         " device");
}

std::shared_ptr<Device> openAnyDevice() {
  std::optional<NoGpu> first;
  for (const GpuVendor &vendor : gpuVendors()) {
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
