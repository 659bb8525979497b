#include "runtime/gpu/cuda/Module.h"

#include <vector>

namespace nanobragg::cuda {
namespace {

/// A stream.
class Queue : public gpu::Queue {
public:
  explicit Queue(std::shared_ptr<const Device> on)
      : device(std::move(on)), driver(device->driver()) {
    const Device::Current current(*device);
    driver.check(driver.createStream(&stream, NonBlocking), "begin");
  }

  ~Queue() override {
    device->withContext([&] { driver.destroyStream(stream); });
  }

  Queue(const Queue &) = delete;

  void copyToDevice(Address to, const void *from, std::size_t bytes) override {
    const Device::Current current(*device);
    driver.check(driver.copyToDevice(to, from, bytes, stream), "take the data");
  }

  void copyToHost(void *to, Address from, std::size_t bytes) override {
    const Device::Current current(*device);
    driver.check(driver.copyToHost(to, from, bytes, stream), "hand out the results");
  }

  void clear(Address to, std::size_t bytes) override {
    const Device::Current current(*device);
    driver.check(driver.setBytes(to, 0, bytes, stream), "clear memory");
  }

  void launch(const gpu::Module &module, const gpu::Launch &launch) override {
    const Device::Current current(*device);
    // The driver copies the values.
    std::vector<void *> parameters;
    for (const Address &address : launch.pointers)
      parameters.push_back(const_cast<Address *>(&address));
    for (const std::int64_t &number : launch.numbers)
      parameters.push_back(const_cast<std::int64_t *>(&number));
    driver.check(driver.launch(static_cast<const Module &>(module).function(launch.entry),
                               unsigned(launch.blocks), 1, 1, unsigned(launch.threads), 1, 1, 0,
                               stream, parameters.data(), nullptr),
                 "launch the kernel");
  }

  void wait(const char *what) override {
    const Device::Current current(*device);
    driver.check(driver.synchronize(stream), what);
  }

  void waitAnyway() noexcept override {
    device->withContext([&] { driver.synchronize(stream); });
  }

private:
  std::shared_ptr<const Device> device;
  const Driver &driver;
  Stream stream = nullptr;
};

} // namespace

std::unique_ptr<gpu::Queue> Device::openQueue() {
  return std::make_unique<Queue>(std::static_pointer_cast<const Device>(shared_from_this()));
}

} // namespace nanobragg::cuda
