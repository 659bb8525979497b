// AMD's HIP on the device of FakeCuda.cpp: libamdhip64.so.6 with the functions that the runtime
// calls. A code object has to be one of AMD's for the chip that NB_FAKE_CUDA says, gfx942 without.
#include "test/gpu/FakeDevice.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

using namespace fake;

// FakeCuda.cpp's, in the same library.
extern "C" {
Result cuInit(unsigned);
Result cuGetErrorName(Result, const char **);
Result cuDeviceGetCount(int *);
Result cuDeviceGet(int *, int);
Result cuDeviceGetName(char *, int, int);
Result cuCtxPushCurrent_v2(void *);
Result cuCtxPopCurrent_v2(void **);
Result cuMemGetInfo_v2(std::size_t *, std::size_t *);
Result cuMemAlloc_v2(Address *, std::size_t);
Result cuMemFree_v2(Address);
Result cuMemcpyHtoDAsync_v2(Address, const void *, std::size_t, void *);
Result cuMemcpyDtoHAsync_v2(void *, Address, std::size_t, void *);
Result cuMemsetD8Async(Address, unsigned char, std::size_t, void *);
Result cuStreamCreate(void **, unsigned);
Result cuStreamDestroy_v2(void *);
Result cuStreamSynchronize(void *);
Result cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
Result cuModuleUnload(Module *);
Result cuModuleGetFunction(Function **, Module *, const char *);
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, Function *, int, std::size_t);
Result cuLaunchKernel(Function *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, void *, void **, void **);
}

namespace {

Address addressOf(const void *pointer) { return reinterpret_cast<Address>(pointer); }

/// The device that calls of this thread are for, whose context is current.
thread_local int device = -1;

/// The numbers of chips in the flags of AMD's ELF files.
unsigned machineOf(long long chip) { return chip == 942 ? 0x4c : chip == 1100 ? 0x41 : 0; }

} // namespace

#pragma GCC visibility push(default)
extern "C" {

Result hipInit(unsigned flags) { return cuInit(flags); }
Result hipDriverGetVersion(int *version) {
  *version = 60342134;
  return Success;
}
const char *hipGetErrorName(Result result) {
  static thread_local std::string text;
  const char *name = "";
  cuGetErrorName(result, &name);
  text = std::string("hip as ") + name;
  return text.c_str();
}
Result hipGetDeviceCount(int *count) { return cuDeviceGetCount(count); }
Result hipDeviceGet(int *found, int number) { return cuDeviceGet(found, number); }
Result hipDeviceGetName(char *name, int capacity, int number) {
  return cuDeviceGetName(name, capacity, number);
}
Result hipDeviceGetAttribute(int *value, int attribute, int) {
  *value = 4;
  return attribute == 63 ? Success : InvalidValue;
}
Result hipGetDevicePropertiesR0600(void *properties, int) {
  std::snprintf(static_cast<char *>(properties), 256, "Fake gfx of AMD");
  std::snprintf(static_cast<char *>(properties) + 1160, 256, "gfx%lld:sramecc+:xnack-",
                setting("chip", 942));
  return Success;
}
Result hipGetDevice(int *number) {
  *number = device < 0 ? 0 : device;
  return Success;
}
Result hipSetDevice(int number) {
  void *before = nullptr;
  if (device >= 0)
    cuCtxPopCurrent_v2(&before);
  device = number;
  return cuCtxPushCurrent_v2(reinterpret_cast<void *>(std::size_t(number) + 1));
}

Result hipMemGetInfo(std::size_t *free, std::size_t *total) { return cuMemGetInfo_v2(free, total); }
Result hipMalloc(void **memory, std::size_t bytes) {
  Address address = 0;
  const Result result = cuMemAlloc_v2(&address, bytes);
  *memory = reinterpret_cast<void *>(address);
  return result;
}
Result hipFree(void *memory) { return cuMemFree_v2(addressOf(memory)); }
Result hipMemcpyHtoDAsync(void *to, const void *from, std::size_t bytes, void *stream) {
  return cuMemcpyHtoDAsync_v2(addressOf(to), from, bytes, stream);
}
Result hipMemcpyDtoHAsync(void *to, void *from, std::size_t bytes, void *stream) {
  return cuMemcpyDtoHAsync_v2(to, addressOf(from), bytes, stream);
}
Result hipMemsetD8Async(void *to, unsigned char value, std::size_t bytes, void *stream) {
  return cuMemsetD8Async(addressOf(to), value, bytes, stream);
}
Result hipStreamCreateWithFlags(void **stream, unsigned flags) {
  return cuStreamCreate(stream, flags);
}
Result hipStreamDestroy(void *stream) { return cuStreamDestroy_v2(stream); }
Result hipStreamSynchronize(void *stream) { return cuStreamSynchronize(stream); }

Result hipModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  const auto *bytes = static_cast<const unsigned char *>(image);
  constexpr unsigned amd = 224, versionFive = 3;
  std::uint16_t machine;
  std::uint32_t flags;
  std::memcpy(&machine, bytes + 18, sizeof machine);
  std::memcpy(&flags, bytes + 48, sizeof flags);
  if (std::memcmp(bytes, "\177ELF", 4) != 0 || machine != amd || bytes[8] != versionFive)
    return InvalidImage;
  if ((flags & 0xff) != machineOf(setting("chip", 942)))
    return NoBinaryForGpu;
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
Result hipModuleUnload(Module *module) { return cuModuleUnload(module); }
Result hipModuleGetFunction(Function **function, Module *module, const char *name) {
  return cuModuleGetFunction(function, module, name);
}
Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *function,
                                                          int threads, std::size_t bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, bytes);
}
Result hipModuleLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z,
                             unsigned threads, unsigned threadsY, unsigned threadsZ, unsigned bytes,
                             void *stream, void **parameters, void **extra) {
  return cuLaunchKernel(function, x, y, z, threads, threadsY, threadsZ, bytes, stream, parameters,
                        extra);
}

} // extern "C"
#pragma GCC visibility pop
