// A kernel's code on a GPU.
#ifndef NANOBRAGG_RUNTIME_CUDA_MODULE_H
#define NANOBRAGG_RUNTIME_CUDA_MODULE_H

#include "runtime/gpu/cuda/Device.h"
#include "runtime/processor/KernelRunner.h"

namespace nanobragg::cuda {

/// The code of a kernel that fits the device: cubin of its major version and of no later minor one,
/// or else PTX, which the driver compiles.
class Module {
public:
  /// One for all that run this kernel there. Throws std::runtime_error that says what chips the
  /// kernel is for, or what the driver is too old for.
  static std::shared_ptr<const Module> of(const std::shared_ptr<Device> &device,
                                          const KernelHandle &kernel);
  ~Module();
  Module(const Module &) = delete;

  Function entry() const { return entryFunction; }
  Function reduce() const { return reduceFunction; }
  /// That a multiprocessor can hold at a time.
  int residentBlocks() const { return blocks; }

private:
  Module(std::shared_ptr<Device> device, KernelHandle kernel);
  void load();
  Result tryCode(const nb_device_code &code);

  std::shared_ptr<Device> device;
  KernelHandle kernel;
  ModuleHandle handle = nullptr;
  Function entryFunction = nullptr, reduceFunction = nullptr;
  int blocks = 1;
  std::string complaint; ///< the driver's, about PTX
};

} // namespace nanobragg::cuda
#endif
