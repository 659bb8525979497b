// AMD's HIP, opened when it is asked for.
//
// libamdhip64.so belongs to ROCm and is on no other machine, so nothing links it. The declarations
// here are the part of its C interface that is called, by the names of CUDA's table, which most of
// it fills: runtime/gpu/cuda drives a GPU by either.
#ifndef NANOBRAGG_RUNTIME_HIP_DRIVER_H
#define NANOBRAGG_RUNTIME_HIP_DRIVER_H

#include "runtime/gpu/cuda/Driver.h"

namespace nanobragg::hip {

using cuda::DeviceAttribute;
using cuda::Function;
using cuda::JitOption;
using cuda::ModuleHandle;
using cuda::NoGpu;
using cuda::Ordinal;
using cuda::Result;
using cuda::Stream;

inline constexpr auto multiprocessorCount = DeviceAttribute(63);

/// The member of CUDA's table, the symbol, the parameters.
#define NB_HIP_FUNCTIONS(X)                                                                        \
  X(init, hipInit, (unsigned flags))                                                               \
  X(driverVersion, hipDriverGetVersion, (int *version))                                            \
  X(deviceCount, hipGetDeviceCount, (int *count))                                                  \
  X(device, hipDeviceGet, (Ordinal * device, int number))                                          \
  X(deviceName, hipDeviceGetName, (char *name, int capacity, Ordinal device))                      \
  X(deviceAttribute, hipDeviceGetAttribute,                                                        \
    (int *value, DeviceAttribute attribute, Ordinal device))                                       \
  X(memoryInfo, hipMemGetInfo, (std::size_t *free, std::size_t *total))                            \
  X(allocate, hipMalloc, (void **address, std::size_t bytes))                                      \
  X(free, hipFree, (void *address))                                                                \
  X(copyToDevice, hipMemcpyHtoDAsync,                                                              \
    (void *to, const void *from, std::size_t bytes, Stream stream))                                \
  X(copyToHost, hipMemcpyDtoHAsync, (void *to, void *from, std::size_t bytes, Stream stream))      \
  X(setBytes, hipMemsetD8Async, (void *to, unsigned char value, std::size_t bytes, Stream stream)) \
  X(createStream, hipStreamCreateWithFlags, (Stream * stream, unsigned flags))                     \
  X(destroyStream, hipStreamDestroy, (Stream stream))                                              \
  X(synchronize, hipStreamSynchronize, (Stream stream))                                            \
  X(loadModule, hipModuleLoadDataEx,                                                               \
    (ModuleHandle * module, const void *image, unsigned options, JitOption *option,                \
     void **values))                                                                               \
  X(unloadModule, hipModuleUnload, (ModuleHandle module))                                          \
  X(function, hipModuleGetFunction, (Function * function, ModuleHandle module, const char *name))  \
  X(residentBlocks, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                            \
    (int *blocks, Function function, int threads, std::size_t sharedBytes))                        \
  X(launch, hipModuleLaunchKernel,                                                                 \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,           \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters,     \
     void **extra))

/// HIP's functions without a place in that table: it has a current device, no stack of contexts.
#define NB_HIP_OWN_FUNCTIONS(X)                                                                    \
  X(const char *, errorName, hipGetErrorName, (Result result))                                     \
  X(Result, setDevice, hipSetDevice, (int number))                                                 \
  X(Result, getDevice, hipGetDevice, (int *number))

/// The driver of this machine, initialized once per process. Throws gpu::NoGpu.
const cuda::Driver &openDriver();

} // namespace nanobragg::hip
#endif
