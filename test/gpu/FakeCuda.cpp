// A CUDA driver without a GPU, for tests: libcuda.so.1 with the functions that the runtime calls.
//
// The device's memory is memory of this process that the driver keeps account of. A launch runs
// run_tile of NB_FAKE_CUDA_TWIN, the kernel file of the same program for gpu-on-cpu (of a program
// with sums over pixels NB_FAKE_CUDA_TWIN_SUMS), on the memory that it is given, after every
// pointer in it was found to be into the device's memory. A forbidden call, or memory left at
// the end, ends the process with status 99.
//
// NB_FAKE_CUDA: words NAME=NUMBER with blanks between: devices, capability, version (of CUDA),
// memory (bytes of each), launch_ms (how long a launch takes), warp (threads that run in step),
// alike (so many devices have one name), fails (the device of that number, at each launch).
// NB_FAKE_CUDA_LOG: a file that receives a line for each call that tests look at.
#include "test/gpu/FakeDevice.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

using namespace fake;

#pragma GCC visibility push(default)
extern "C" {

Result cuInit(unsigned) { return setting("devices", 1) ? Success : NoDevice; }
Result cuDriverGetVersion(int *version) {
  *version = int(setting("version", 13000));
  return Success;
}
Result cuGetErrorName(Result result, const char **name) {
  static const std::map<int, const char *> names = {
      {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {NoDevice, "CUDA_ERROR_NO_DEVICE"},
      {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {UnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {NotFound, "CUDA_ERROR_NOT_FOUND"}};
  const auto found = names.find(result);
  *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
  return Success;
}

Result cuDeviceGetCount(int *count) {
  *count = int(setting("devices", 1));
  return Success;
}
Result cuDeviceGet(int *device, int number) {
  *device = number;
  return number < setting("devices", 1) ? Success : InvalidDevice;
}
Result cuDeviceGetName(char *name, int capacity, int device) {
  std::snprintf(name, std::size_t(capacity),
                device >= setting("alike", 99) ? "Other GPU" : "Fake GPU");
  return Success;
}
Result cuDeviceGetAttribute(int *value, int attribute, int) {
  const int capability = int(setting("capability", 90));
  switch (attribute) {
  case 16:
    *value = 4;
    return Success;
  case 75:
    *value = capability / 10;
    return Success;
  case 76:
    *value = capability % 10;
    return Success;
  }
  return InvalidValue;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) {
  std::lock_guard lock(state.mutex);
  ++state.contexts;
  *context = reinterpret_cast<void *>(std::size_t(device) + 1);
  return Success;
}
Result cuDevicePrimaryCtxRelease_v2(int) {
  std::lock_guard lock(state.mutex);
  if (--state.contexts == 0 && (!state.memory.empty() || !state.modules.empty()))
    wrong("the context is released before what is in it");
  return Success;
}
Result cuCtxPushCurrent_v2(void *context) {
  current.push_back(int(reinterpret_cast<std::size_t>(context)) - 1);
  return Success;
}
Result cuCtxPopCurrent_v2(void **context) {
  if (current.empty())
    wrong("more contexts are popped than were pushed");
  current.pop_back();
  *context = nullptr;
  return Success;
}

Result cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  needContext("cuMemGetInfo");
  std::lock_guard lock(state.mutex);
  *total = totalMemory();
  *free = *total - state.used[current.back()];
  return Success;
}
Result cuMemAlloc_v2(Address *address, std::size_t bytes) {
  needContext("cuMemAlloc");
  if (bytes == 0)
    return InvalidValue;
  std::lock_guard lock(state.mutex);
  std::size_t &used = state.used[current.back()];
  if (bytes > totalMemory() - used)
    return OutOfMemory;
  void *memory = ::operator new(bytes, std::align_val_t(256));
  std::memset(memory, 0xa5, bytes); // programs must not rely on zeros
  *address = reinterpret_cast<Address>(memory);
  state.memory[*address] = {bytes, current.back()};
  used += bytes;
  state.most = std::max(state.most, used);
  log("allocate " + std::to_string(bytes));
  return Success;
}
Result cuMemFree_v2(Address address) {
  needContext("cuMemFree");
  std::lock_guard lock(state.mutex);
  const auto found = state.memory.find(address);
  if (found == state.memory.end())
    wrong("what is freed was not allocated");
  ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(256));
  state.used[found->second.device] -= found->second.bytes;
  state.memory.erase(found);
  log("free");
  return Success;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void *from, std::size_t bytes, void *) {
  needContext("cuMemcpyHtoDAsync");
  std::memcpy(onDevice<char>(to, bytes, "what is copied to"), from, bytes);
  log("upload " + std::to_string(bytes));
  return Success;
}
Result cuMemcpyDtoHAsync_v2(void *to, Address from, std::size_t bytes, void *) {
  needContext("cuMemcpyDtoHAsync");
  std::memcpy(to, onDevice<char>(from, bytes, "what is copied from"), bytes);
  log("download " + std::to_string(bytes));
  return Success;
}
Result cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void *) {
  needContext("cuMemsetD8Async");
  std::memset(onDevice<char>(to, bytes, "what is set"), value, bytes);
  return Success;
}

Result cuStreamCreate(void **stream, unsigned) {
  needContext("cuStreamCreate");
  std::lock_guard lock(state.mutex);
  *stream = reinterpret_cast<void *>(std::size_t(++state.streams));
  return Success;
}
Result cuStreamDestroy_v2(void *) {
  std::lock_guard lock(state.mutex);
  --state.streams;
  return Success;
}
Result cuStreamSynchronize(void *) {
  needContext("cuStreamSynchronize");
  log("synchronize");
  return Success;
}

Result cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  needContext("cuModuleLoadDataEx");
  const int version = int(setting("version", 13000));
  const bool cubin = std::memcmp(image, "\177ELF", 4) == 0;
  if (cubin && version < 12000)
    return InvalidImage; // as a driver that knows only older files
  if (!cubin) {
    const char *text = std::strstr(static_cast<const char *>(image), ".version ");
    int major = 0, minor = 0;
    if (!text || std::sscanf(text, ".version %d.%d", &major, &minor) != 2)
      return InvalidImage;
    if (10 * major + minor > (version >= 11080 ? 78 : 70) && version < 12080)
      return UnsupportedPtxVersion;
  }
  auto *made = new Module;
  std::lock_guard lock(state.mutex);
  state.modules.insert(made);
  *module = made;
  log(cubin ? "module cubin" : "module ptx");
  return Success;
}
Result cuModuleUnload(Module *module) {
  std::lock_guard lock(state.mutex);
  if (!state.modules.erase(module))
    wrong("an unknown module is unloaded");
  delete module;
  return Success;
}
Result cuModuleGetFunction(Function **function, Module *module, const char *name) {
  const bool reduces = std::string(name).ends_with("_reduce");
  module->sums |= reduces;
  *function = reduces ? &module->reduce : &module->entry;
  return Success;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *, int, std::size_t) {
  *blocks = 4;
  return Success;
}

Result cuLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                      unsigned, unsigned, unsigned, void *, void **parameters, void **) {
  needContext("cuLaunchKernel");
  if (!x || y != 1 || z != 1)
    return InvalidValue;
  log((function->reduces ? "reduce " : "launch ") + std::to_string(x));
  if (!function->reduces)
    log("on " + std::to_string(current.back()));
  if (function->reduces)
    return threads == unsigned(warp()) ? Success : InvalidValue; // the twin's run_tile has done it
  if (current.back() == setting("fails", -1))
    return LaunchFailed;
  std::this_thread::sleep_for(std::chrono::milliseconds(setting("launch_ms", 0)));
  return render(*function->module, x, threads, parameters);
}

} // extern "C"
#pragma GCC visibility pop
