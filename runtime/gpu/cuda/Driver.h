// The CUDA driver, opened when it is asked for.
//
// libcuda.so.1 belongs to the driver of the GPU and is on no other machine, so nothing links it.
// The declarations here are the part of its C interface that is called. AMD's HIP has the same
// functions under other names, so that runtime/gpu/hip fills the same table.
#ifndef NANOBRAGG_RUNTIME_CUDA_DRIVER_H
#define NANOBRAGG_RUNTIME_CUDA_DRIVER_H

#include "runtime/gpu/ArgumentBlock.h"
#include "runtime/gpu/NoGpu.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanobragg::cuda {

enum class Result : int {
  Success = 0,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidImage = 200,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222
};

using Ordinal = int; ///< a device's
using gpu::Address;
using Context = struct ContextOfDriver *;
using ModuleHandle = struct ModuleOfDriver *;
using Function = struct FunctionOfDriver *;
using Stream = struct StreamOfDriver *;

enum DeviceAttribute : int {
  MultiprocessorCount = 16,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76
};
enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };
enum StreamFlags : unsigned { NonBlocking = 1 };

/// Our name, the symbol, the parameters. A version in the symbol is that of 64-bit sizes, which all
/// drivers since CUDA 4 have, and of the primary context's release since CUDA 11.
#define NB_CUDA_FUNCTIONS(X)                                                                       \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driverVersion, cuDriverGetVersion, (int *version))                                             \
  X(errorName, cuGetErrorName, (Result result, const char **name))                                 \
  X(deviceCount, cuDeviceGetCount, (int *count))                                                   \
  X(device, cuDeviceGet, (Ordinal * device, int number))                                           \
  X(deviceName, cuDeviceGetName, (char *name, int capacity, Ordinal device))                       \
  X(deviceAttribute, cuDeviceGetAttribute,                                                         \
    (int *value, DeviceAttribute attribute, Ordinal device))                                       \
  X(retainContext, cuDevicePrimaryCtxRetain, (Context * context, Ordinal device))                  \
  X(releaseContext, cuDevicePrimaryCtxRelease_v2, (Ordinal device))                                \
  X(pushContext, cuCtxPushCurrent_v2, (Context context))                                           \
  X(popContext, cuCtxPopCurrent_v2, (Context * context))                                           \
  X(memoryInfo, cuMemGetInfo_v2, (std::size_t *free, std::size_t *total))                          \
  X(allocate, cuMemAlloc_v2, (Address * address, std::size_t bytes))                               \
  X(free, cuMemFree_v2, (Address address))                                                         \
  X(copyToDevice, cuMemcpyHtoDAsync_v2,                                                            \
    (Address to, const void *from, std::size_t bytes, Stream stream))                              \
  X(copyToHost, cuMemcpyDtoHAsync_v2, (void *to, Address from, std::size_t bytes, Stream stream))  \
  X(setBytes, cuMemsetD8Async,                                                                     \
    (Address to, unsigned char value, std::size_t bytes, Stream stream))                           \
  X(createStream, cuStreamCreate, (Stream * stream, unsigned flags))                               \
  X(destroyStream, cuStreamDestroy_v2, (Stream stream))                                            \
  X(synchronize, cuStreamSynchronize, (Stream stream))                                             \
  X(loadModule, cuModuleLoadDataEx,                                                                \
    (ModuleHandle * module, const void *image, unsigned options, JitOption *option,                \
     void **values))                                                                               \
  X(unloadModule, cuModuleUnload, (ModuleHandle module))                                           \
  X(function, cuModuleGetFunction, (Function * function, ModuleHandle module, const char *name))   \
  X(residentBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                   \
    (int *blocks, Function function, int threads, std::size_t sharedBytes))                        \
  X(launch, cuLaunchKernel,                                                                        \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,           \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters,     \
     void **extra))

struct Driver;

/// The differences between CUDA and HIP.
struct Make {
  const char *name;                             ///< "CUDA"
  const char *device;                           ///< the name of its GPUs for --device: "cuda"
  int dlpack;                                   ///< their type in DLPack
  const char *hiddenBy;                         ///< the variable that may hide them
  const char *remedy;                           ///< a hint for machines that have none
  DeviceAttribute multiprocessorCount;          ///< its number
  std::string (*chip)(const Driver &, Ordinal); ///< "sm_90"
  /// Does a GPU of this chip run the code? It may need the driver's compiler.
  bool (*fits)(const nb_device_code &, std::string_view chip);
  std::string (*needOf)(const nb_device_code &); ///< "PTX 8.7, which needs CUDA 12.8"
  std::string (*version)(int);                   ///< "13.0", of what driverVersion says
};

struct Driver {
#define NB_MEMBER(name, symbol, parameters) Result(*name) parameters = nullptr;
  NB_CUDA_FUNCTIONS(NB_MEMBER)
#undef NB_MEMBER
  int version = 0; ///< the result of driverVersion
  const Make *make = nullptr;

  /// The driver of this machine, initialized once per process. Throws NoGpu.
  static const Driver &open();

  /// Initializes what has been loaded. Throws NoGpu.
  void start();

  /// How many GPUs there are.
  int count() const;

  /// Throws std::runtime_error that says what failed.
  void check(Result result, const char *what) const;
  /// "CUDA_ERROR_...", "hipError...".
  std::string nameOf(Result result) const;
};

using gpu::NoGpu;

/// The code of NVIDIA's chips.
extern const Make cudaMake;

} // namespace nanobragg::cuda
#endif
