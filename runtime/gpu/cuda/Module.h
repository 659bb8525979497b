// A kernel's code on a GPU.
#ifndef NANOBRAGG_RUNTIME_CUDA_MODULE_H
#define NANOBRAGG_RUNTIME_CUDA_MODULE_H

#include "runtime/gpu/cuda/Device.h"
#include "runtime/processor/KernelRunner.h"

namespace nanobragg::cuda {

/// The code of a kernel that fits the device: cubin of its major version and of no later minor one,
/// or else PTX, which the driver compiles.
class Module : public gpu::Module {
public:
  /// Throws std::runtime_error that says what chips the kernel is for, or what the driver is too
  /// old for.
  Module(std::shared_ptr<const Device> device, KernelHandle kernel);
  ~Module() override;
  Module(const Module &) = delete;

  Function function(gpu::Entry entry) const {
    return entry == gpu::Entry::Render ? entryFunction : reduceFunction;
  }
  std::int64_t residentBlocks() const override {
    return std::int64_t(blocks) * device->multiprocessors();
  }

private:
  void load();
  Result tryCode(const nb_device_code &code);

  std::shared_ptr<const Device> device;
  KernelHandle kernel;
  ModuleHandle handle = nullptr;
  Function entryFunction = nullptr, reduceFunction = nullptr;
  int blocks = 1;        ///< that a multiprocessor can hold at a time
  std::string complaint; ///< the driver's, about PTX
};

} // namespace nanobragg::cuda
#endif
