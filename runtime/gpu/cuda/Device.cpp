#include "runtime/gpu/cuda/Device.h"

#include "runtime/gpu/Vendors.h"
#include "runtime/gpu/cuda/Module.h"

namespace nanobragg::cuda {

static std::string nameOf(const Driver &driver, Ordinal device) {
  char name[256] = "";
  driver.check(driver.deviceName(name, sizeof name, device), "say its name");
  return name;
}

/// "cuda:0".
static std::string placeOf(const Driver &driver, int number) {
  return std::string(driver.make->device) + ":" + std::to_string(number);
}

/// "cuda:0 NVIDIA H200, cuda:1 NVIDIA L4".
static std::string listDevices(const Driver &driver, int count) {
  std::string text;
  for (int i = 0; i != count; ++i) {
    Ordinal device = 0;
    driver.check(driver.device(&device, i), "be found");
    text += (i ? ", " : "") + placeOf(driver, i) + " " + nameOf(driver, device);
  }
  return text;
}

Device::Device(const Driver &driver, int number) : api(driver), number(number) {
  int count = 0;
  const Result result = api.deviceCount(&count);
  if (result != Result::Success || count == 0)
    throw NoGpu(std::string("the ") + api.make->name + " driver finds no GPU (" +
                api.make->hiddenBy + " may hide it); use --device=cpu");
  if (number >= count)
    throw NoGpu("there is no " + placeOf(api, number) + " here, only " + listDevices(api, count) +
                "; name one of these, or use --device=cpu");
  api.check(api.device(&ordinal, number), "be found");
  name = nameOf(api, ordinal);
  nameOfChip = api.make->chip(api, ordinal);
  api.check(api.deviceAttribute(&processors, api.make->multiprocessorCount, ordinal),
            "say what it is");
  if (const Result retained = api.retainContext(&context, ordinal); retained != Result::Success)
    throw NoGpu("the GPU " + describe() + " cannot be used: " + api.nameOf(retained) +
                "; use --device=cpu, or another GPU with --device=" + api.make->device + ":N");
}

Device::~Device() { api.releaseContext(ordinal); }

std::string Device::describe() const {
  return name + " (" + placeOf(api, number) + ", " + chip() + ")";
}

void Device::waitForOthers() const {
  const Current current(*this);
  api.check(api.synchronize(nullptr), "wait for others");
}

Address Device::allocate(std::size_t bytes) const {
  const Current current(*this);
  Address address = 0;
  const Result result = api.allocate(&address, bytes);
  if (result == Result::OutOfMemory)
    return 0;
  api.check(result, "allocate memory");
  return address;
}

void Device::free(Address address) const noexcept {
  withContext([&] { api.free(address); });
}

std::shared_ptr<const gpu::Module> Device::load(KernelHandle kernel) {
  return std::make_shared<const Module>(std::static_pointer_cast<const Device>(shared_from_this()),
                                        std::move(kernel));
}

int countDevices() { return Driver::open().count(); }

std::shared_ptr<gpu::Device> openDevice(int number) {
  return std::make_shared<Device>(Driver::open(), number);
}

gpu::MemoryInfo Device::memory() const {
  const Current current(*this);
  gpu::MemoryInfo info;
  api.check(api.memoryInfo(&info.free, &info.total), "say how much memory is free");
  return info;
}

} // namespace nanobragg::cuda
