#include "runtime/gpu/opencl/Module.h"

namespace nanobragg::opencl {
namespace {

void *pointer(Address address) { return reinterpret_cast<void *>(address); }

/// A command queue, whose commands run in order.
class Queue : public gpu::Queue {
public:
  explicit Queue(std::shared_ptr<const Device> on)
      : device(std::move(on)), driver(device->driver()) {
    Result result = Result::Success;
    queue = driver.createQueue(device->context(), device->id(), nullptr, &result);
    driver.check(result, "begin");
  }

  ~Queue() override { driver.releaseQueue(queue); }

  Queue(const Queue &) = delete;

  void copyToDevice(Address to, const void *from, std::size_t bytes) override {
    driver.check(driver.copy(queue, false, pointer(to), from, bytes, 0, nullptr, nullptr),
                 "take the data");
  }

  void copyToHost(void *to, Address from, std::size_t bytes) override {
    driver.check(driver.copy(queue, false, to, pointer(from), bytes, 0, nullptr, nullptr),
                 "hand out the results");
  }

  void clear(Address to, std::size_t bytes) override {
    constexpr unsigned char zero = 0;
    driver.check(driver.fill(queue, pointer(to), &zero, sizeof zero, bytes, 0, nullptr, nullptr),
                 "clear memory");
  }

  void launch(const gpu::Module &module, const gpu::Launch &launch) override {
    static_cast<const Module &>(module).launchOn(queue, launch);
  }

  void wait(const char *what) override { driver.check(driver.finish(queue), what); }

  void waitAnyway() noexcept override { driver.finish(queue); }

private:
  std::shared_ptr<const Device> device;
  const Driver &driver;
  CommandQueue queue = nullptr;
};

} // namespace

std::unique_ptr<gpu::Queue> Device::openQueue() {
  return std::make_unique<Queue>(std::static_pointer_cast<const Device>(shared_from_this()));
}

} // namespace nanobragg::opencl
