// Commands for a GPU.
#ifndef NANOBRAGG_RUNTIME_CUDA_QUEUE_H
#define NANOBRAGG_RUNTIME_CUDA_QUEUE_H

#include "runtime/gpu/cuda/Device.h"

namespace nanobragg::cuda {

/// A stream.
class Queue : public gpu::Queue {
public:
  explicit Queue(std::shared_ptr<const Device> device);
  ~Queue() override;
  Queue(const Queue &) = delete;

  void copyToDevice(Address to, const void *from, std::size_t bytes) override;
  void copyToHost(void *to, Address from, std::size_t bytes) override;
  void clear(Address to, std::size_t bytes) override;
  void launch(const gpu::Module &module, const gpu::Launch &launch) override;
  void wait(const char *what) override;
  void waitAnyway() noexcept override;

private:
  std::shared_ptr<const Device> device;
  const Driver &driver;
  Stream stream = nullptr;
};

} // namespace nanobragg::cuda
#endif
