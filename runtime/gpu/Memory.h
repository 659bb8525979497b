// Memory of a GPU.
#ifndef NANOBRAGG_RUNTIME_GPU_MEMORY_H
#define NANOBRAGG_RUNTIME_GPU_MEMORY_H

#include "runtime/gpu/Device.h"

#include <string>
#include <utility>
#include <vector>

namespace nanobragg::gpu {

/// A piece of a device's memory.
class Memory {
public:
  Memory() = default;
  /// Throws std::runtime_error that names how much is wanted and how much is free.
  Memory(std::shared_ptr<Device> device, std::size_t bytes);
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();

  Address address() const { return place; }
  std::size_t bytes() const { return size; }
  /// Its first bytes, to the host.
  void copyTo(void *to, std::size_t bytes) const;

private:
  void swap(Memory &other) noexcept {
    std::swap(device, other.device);
    std::swap(place, other.place);
    std::swap(size, other.size);
  }

  std::shared_ptr<Device> device;
  Address place = 0;
  std::size_t size = 0;
};

/// The memory about to be allocated, so that too large a sum is refused before it is tried.
class MemoryNeed {
public:
  void add(const char *what, std::size_t bytes);
  /// Throws std::runtime_error that names the need, its parts and what is free.
  void check(const Device &device) const;

private:
  struct Part {
    const char *what;
    std::size_t bytes;
  };
  std::vector<Part> parts;
  std::size_t sum = 0;
};

/// "3.2 GB".
std::string bytesText(std::size_t bytes);

} // namespace nanobragg::gpu
#endif
