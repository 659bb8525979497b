#include "runtime/gpu/Device.h"

#include "runtime/gpu/Vendors.h"

#include <cstdio>
#include <optional>
#include <stdexcept>

namespace nanobragg::gpu {
namespace {

/// One per vendor, by what --device calls its GPUs.
struct Opener {
  std::string_view device;
  std::shared_ptr<Device> (*open)(int number);
  int (*count)();
};
constexpr Opener openers[] = {{"cuda", cuda::openDevice, cuda::countDevices},
                              {"hip", hip::openDevice, hip::countDevices},
                              {"opencl", opencl::openDevice, opencl::countDevices}};

const Opener &openerOf(const GpuVendor &vendor) {
  for (const Opener &opener : openers)
    if (opener.device == vendor.device)
      return opener;
  throw std::logic_error("no folder of runtime/gpu drives a " + std::string(vendor.device) +
                         " device");
}

std::shared_ptr<Device> openDevice(const GpuVendor &vendor, int number) {
  using Known = std::map<std::pair<std::string_view, int>, std::weak_ptr<Device>>;
  static std::mutex opening;
  static Known &devices = *new Known;
  std::lock_guard lock(opening);
  std::weak_ptr<Device> &known = devices[{vendor.device, number}];
  if (auto found = known.lock())
    return found;
  std::shared_ptr<Device> device = openerOf(vendor).open(number);
  known = device;
  return device;
}

Devices openOf(const GpuVendor &vendor, int number) {
  if (number != DeviceChoice::every)
    return {openDevice(vendor, number)};
  Devices all{openDevice(vendor, 0)};
  const int count = openerOf(vendor).count();
  for (int i = 1; i < count; ++i) {
    auto device = openDevice(vendor, i);
    if (device->model() == all.front()->model() && device->chip() == all.front()->chip())
      all.push_back(std::move(device));
  }
  return all;
}

} // namespace

std::shared_ptr<const Module> Device::module(const KernelHandle &kernel) {
  char key[40];
  std::snprintf(key, sizeof key, "module %p", static_cast<const void *>(kernel.get()));
  return shared<const Module>(key, [&] { return load(kernel); });
}

Devices openDevices(const DeviceChoice &choice) {
  if (choice.vendor)
    return openOf(*choice.vendor, choice.number);
  std::optional<NoGpu> first;
  for (const GpuVendor &vendor : gpuVendors()) {
    if (!vendor.automatic)
      continue;
    try {
      return openOf(vendor, choice.number);
    } catch (const NoGpu &none) {
      if (!first)
        first = none;
    }
  }
  throw *first;
}

Devices openDevicesFor(const nb_kernel_descriptor &kernel) {
  const char *chip = kernel.device->num_codes ? kernel.device->codes[0].chip : "";
  return openDevices({DeviceChoice::Kind::Gpu, 0, vendorOfChip(chip)});
}

} // namespace nanobragg::gpu
