// OpenCL, opened when it is asked for.
//
// libOpenCL.so.1 is a loader that opens the runtimes of all vendors, so nothing links it. The
// declarations are the part of its C interface that is called, of OpenCL 2.1 and newer.
#ifndef NANOBRAGG_RUNTIME_OPENCL_DRIVER_H
#define NANOBRAGG_RUNTIME_OPENCL_DRIVER_H

#include "runtime/gpu/ArgumentBlock.h"
#include "runtime/gpu/NoGpu.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace nanobragg::opencl {

enum class Result : std::int32_t {
  Success = 0,
  DeviceNotFound = -1,
  OutOfResources = -5,
  OutOfHostMemory = -6,
  BuildProgramFailure = -11,
  NoPlatform = -1001
};

using gpu::Address;
using Platform = struct PlatformOfDriver *;
using DeviceId = struct DeviceOfDriver *;
using Context = struct ContextOfDriver *;
using CommandQueue = struct QueueOfDriver *;
using Program = struct ProgramOfDriver *;
using Kernel = struct KernelOfDriver *;
using Event = struct EventOfDriver *;

using Bool = std::uint32_t;
using Count = std::uint32_t;
using Name = std::uint32_t; ///< the name of a piece of information
using Flags = std::uint64_t;

inline constexpr Flags anyDevice = 0xFFFFFFFF, ofGpu = 1 << 2;
inline constexpr Flags readWrite = 1 << 0;
inline constexpr Flags coarseGrain = 1 << 0;
inline constexpr Name deviceType = 0x1000, computeUnits = 0x1002, globalMemorySize = 0x101F,
                      deviceName = 0x102B, doubleConfig = 0x1032, sharedMemory = 0x1053,
                      ilVersion = 0x105B, buildLog = 0x1183, sharedPointers = 0x11B6,
                      subGroupSize = 0x2033;

/// Our name, the symbol, the parameters.
#define NB_OPENCL_FUNCTIONS(X)                                                                     \
  X(platforms, clGetPlatformIDs, (Count entries, Platform * platforms, Count * count))             \
  X(devices, clGetDeviceIDs,                                                                       \
    (Platform platform, Flags type, Count entries, DeviceId * devices, Count * count))             \
  X(deviceInfo, clGetDeviceInfo,                                                                   \
    (DeviceId device, Name name, std::size_t bytes, void *value, std::size_t *size))               \
  X(releaseContext, clReleaseContext, (Context context))                                           \
  X(releaseQueue, clReleaseCommandQueue, (CommandQueue queue))                                     \
  X(buildProgram, clBuildProgram,                                                                  \
    (Program program, Count count, const DeviceId *devices, const char *options,                   \
     void (*done)(Program, void *), void *data))                                                   \
  X(programBuildInfo, clGetProgramBuildInfo,                                                       \
    (Program program, DeviceId device, Name name, std::size_t bytes, void *value,                  \
     std::size_t *size))                                                                           \
  X(releaseProgram, clReleaseProgram, (Program program))                                           \
  X(releaseKernel, clReleaseKernel, (Kernel kernel))                                               \
  X(setArgument, clSetKernelArg,                                                                   \
    (Kernel kernel, Count index, std::size_t bytes, const void *value))                            \
  X(setPointer, clSetKernelArgSVMPointer, (Kernel kernel, Count index, const void *value))         \
  X(setExecInfo, clSetKernelExecInfo,                                                              \
    (Kernel kernel, Name name, std::size_t bytes, const void *value))                              \
  X(subGroupInfo, clGetKernelSubGroupInfo,                                                         \
    (Kernel kernel, DeviceId device, Name name, std::size_t inputBytes, const void *input,         \
     std::size_t bytes, void *value, std::size_t *size))                                           \
  X(copy, clEnqueueSVMMemcpy,                                                                      \
    (CommandQueue queue, Bool blocking, void *to, const void *from, std::size_t bytes,             \
     Count waits, const Event *waitFor, Event *event))                                             \
  X(fill, clEnqueueSVMMemFill,                                                                     \
    (CommandQueue queue, void *to, const void *pattern, std::size_t patternBytes,                  \
     std::size_t bytes, Count waits, const Event *waitFor, Event *event))                          \
  X(launch, clEnqueueNDRangeKernel,                                                                \
    (CommandQueue queue, Kernel kernel, Count dimensions, const std::size_t *offset,               \
     const std::size_t *threads, const std::size_t *threadsOfBlock, Count waits,                   \
     const Event *waitFor, Event *event))                                                          \
  X(finish, clFinish, (CommandQueue queue))

/// Those that return no result.
#define NB_OPENCL_MAKERS(X)                                                                        \
  X(Context, createContext, clCreateContext,                                                       \
    (const std::intptr_t *properties, Count count, const DeviceId *devices,                        \
     void (*notify)(const char *, const void *, std::size_t, void *), void *data, Result *result)) \
  X(CommandQueue, createQueue, clCreateCommandQueueWithProperties,                                 \
    (Context context, DeviceId device, const Flags *properties, Result *result))                   \
  X(Program, createProgram, clCreateProgramWithIL,                                                 \
    (Context context, const void *code, std::size_t bytes, Result *result))                        \
  X(Kernel, createKernel, clCreateKernel, (Program program, const char *name, Result *result))     \
  X(void *, allocate, clSVMAlloc,                                                                  \
    (Context context, Flags flags, std::size_t bytes, Count alignment))                            \
  X(void, free, clSVMFree, (Context context, void *address))

struct Driver {
#define NB_MEMBER(name, symbol, parameters) Result(*name) parameters = nullptr;
  NB_OPENCL_FUNCTIONS(NB_MEMBER)
#undef NB_MEMBER
#define NB_MEMBER(type, name, symbol, parameters) type(*name) parameters = nullptr;
  NB_OPENCL_MAKERS(NB_MEMBER)
#undef NB_MEMBER

  /// The loader of this machine, opened once per process. Throws NoGpu.
  static const Driver &open();

  /// Throws std::runtime_error that says what failed.
  void check(Result result, const char *what) const;

  /// A number that the driver knows about the device.
  template <typename T>
  T ask(DeviceId device, Name name) const {
    T value{};
    check(deviceInfo(device, name, sizeof value, &value, nullptr), "say what it is");
    return value;
  }
  std::string askText(DeviceId device, Name name) const;
};

/// "CL_OUT_OF_RESOURCES", or "OpenCL error -9999".
std::string nameOf(Result result);

using gpu::NoGpu;

} // namespace nanobragg::opencl
#endif
