#include "runtime/gpu/opencl/Device.h"

#include "runtime/gpu/Vendors.h"
#include "runtime/gpu/opencl/Module.h"

#include <algorithm>
#include <vector>

namespace nanobragg::opencl {
namespace {

std::vector<DeviceId> devicesOf(const Driver &driver, Platform platform) {
  Count count = 0;
  if (driver.devices(platform, anyDevice, 0, nullptr, &count) != Result::Success)
    return {};
  std::vector<DeviceId> devices(count);
  driver.check(driver.devices(platform, anyDevice, count, devices.data(), nullptr), "be found");
  return devices;
}

/// GPUs first, else in the order of the loader.
std::vector<DeviceId> allDevices(const Driver &driver) {
  Count count = 0;
  if (driver.platforms(0, nullptr, &count) != Result::Success)
    return {};
  std::vector<Platform> platforms(count);
  driver.check(driver.platforms(count, platforms.data(), nullptr), "list its platforms");
  std::vector<DeviceId> all;
  for (Platform platform : platforms)
    for (DeviceId device : devicesOf(driver, platform))
      all.push_back(device);
  std::ranges::stable_partition(
      all, [&](DeviceId device) { return driver.ask<Flags>(device, deviceType) & ofGpu; });
  return all;
}

/// "opencl:0 Intel(R) Arc(TM) A770 Graphics, opencl:1 ...".
std::string listDevices(const Driver &driver, const std::vector<DeviceId> &devices) {
  std::string text;
  for (std::size_t i = 0; i != devices.size(); ++i)
    text += (i ? ", opencl:" : "opencl:") + std::to_string(i) + " " +
            driver.askText(devices[i], deviceName);
  return text;
}

} // namespace

Device::Device(int number) : api(Driver::open()), number(number) {
  const std::vector<DeviceId> devices = allDevices(api);
  if (devices.empty())
    throw NoGpu("OpenCL finds no device (the loader looks for runtimes in /etc/OpenCL/vendors, or "
                "where OCL_ICD_VENDORS says); install the runtime of one, or use --device=cpu");
  if (std::size_t(number) >= devices.size())
    throw NoGpu("there is no opencl:" + std::to_string(number) + " here, only " +
                listDevices(api, devices) + "; name one of these, or use --device=cpu");
  device = devices[std::size_t(number)];
  name = api.askText(device, deviceName);
  units = int(api.ask<Count>(device, opencl::computeUnits));
  checkAbilities();
  Result result = Result::Success;
  own = api.createContext(nullptr, 1, &device, nullptr, nullptr, &result);
  if (result != Result::Success)
    throw NoGpu("the device " + describe() + " cannot be used: " + nameOf(result) +
                "; use --device=cpu, or another one with --device=opencl:N");
}

void Device::checkAbilities() const {
  const auto refuse = [&](const char *what) {
    throw NoGpu("the device " + describe() + " " + what +
                "; use --device=cpu, or another one with --device=opencl:N");
  };
  if (api.askText(device, ilVersion).find("SPIR-V") == std::string::npos)
    refuse("takes no SPIR-V");
  if (api.ask<Flags>(device, doubleConfig) == 0)
    refuse("computes no f64, which kernels of each precision need");
  if (!(api.ask<Flags>(device, sharedMemory) & coarseGrain))
    refuse("has no shared virtual memory");
}

Device::~Device() { api.releaseContext(own); }

std::string Device::describe() const { return name + " (opencl:" + std::to_string(number) + ")"; }

Address Device::allocate(std::size_t bytes) const {
  constexpr Count lineOfCache = 64;
  const auto address = reinterpret_cast<Address>(api.allocate(own, readWrite, bytes, lineOfCache));
  const std::lock_guard lock(mutex);
  if (address)
    allocated[address] = bytes;
  return address;
}

bool Device::reaches(Address address) const {
  const std::lock_guard lock(mutex);
  const auto next = allocated.upper_bound(address);
  return next != allocated.begin() && address < std::prev(next)->first + std::prev(next)->second;
}

void Device::free(Address address) const noexcept {
  {
    const std::lock_guard lock(mutex);
    allocated.erase(address);
  }
  api.free(own, reinterpret_cast<void *>(address));
}

gpu::MemoryInfo Device::memory() const {
  const auto total = std::size_t(api.ask<std::uint64_t>(device, globalMemorySize));
  return {total, total}; // OpenCL does not tell the free memory
}

std::shared_ptr<const gpu::Module> Device::load(KernelHandle kernel) {
  return std::make_shared<const Module>(std::static_pointer_cast<const Device>(shared_from_this()),
                                        std::move(kernel));
}

int countDevices() { return int(allDevices(Driver::open()).size()); }

std::shared_ptr<gpu::Device> openDevice(int number) { return std::make_shared<Device>(number); }

} // namespace nanobragg::opencl
