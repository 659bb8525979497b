#include "runtime/gpu/TracedQueue.h"

#include "lib/Trace/Trace.h"

namespace nanobragg::gpu {
namespace {

class TracedQueue : public Queue {
public:
  TracedQueue(std::unique_ptr<Queue> queue, const std::string &device)
      : queue(std::move(queue)), lane(trace::laneNamed(device)) {}

  void copyToDevice(Address to, const void *from, std::size_t bytes) override {
    run("copy to the device", "take the data", textOf(bytes),
        [&] { queue->copyToDevice(to, from, bytes); });
  }
  void copyToHost(void *to, Address from, std::size_t bytes) override {
    run("copy to the host", "hand out the results", textOf(bytes),
        [&] { queue->copyToHost(to, from, bytes); });
  }
  void clear(Address to, std::size_t bytes) override {
    run("clear", "clear memory", textOf(bytes), [&] { queue->clear(to, bytes); });
  }
  void launch(const Module &module, const Launch &launch) override {
    run(launch.entry == Entry::Render ? "launch: render" : "launch: reduce", "render",
        std::to_string(launch.blocks) + " blocks of " + std::to_string(launch.threads) + " threads",
        [&] { queue->launch(module, launch); });
  }
  void wait(const char *what) override { queue->wait(what); }
  void waitAnyway() noexcept override { queue->waitAnyway(); }

private:
  static std::string textOf(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

  /// `what` fails where the command does.
  template <typename Command>
  void run(const char *name, const char *what, std::string about, Command command) {
    trace::Span span("gpu", name, lane);
    span.explain([&] { return about; });
    command();
    queue->wait(what);
  }

  std::unique_ptr<Queue> queue;
  trace::Lane lane;
};

} // namespace

std::unique_ptr<Queue> traced(std::unique_ptr<Queue> queue, const std::string &device) {
  if (!trace::isOn())
    return queue;
  return std::make_unique<TracedQueue>(std::move(queue), device);
}

} // namespace nanobragg::gpu
