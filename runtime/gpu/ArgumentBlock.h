// The arguments of a launch, in one copy.
#ifndef NANOBRAGG_RUNTIME_GPU_ARGUMENTBLOCK_H
#define NANOBRAGG_RUNTIME_GPU_ARGUMENTBLOCK_H

#include "runtime/processor/KernelRunner.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace nanobragg::gpu {

/// An address in the memory of a device.
using Address = std::uint64_t;

/// Everything small that the kernel reads, side by side: one copy to the device instead of one for
/// each of some sixty parameters.
class ArgumentBlock {
public:
  /// Appends a copy, or zeros for null, where a cache line begins; returns its place in the block.
  std::size_t append(const void *data, std::size_t bytes) {
    constexpr std::size_t alignment = 64;
    const std::size_t place = (content.size() + alignment - 1) / alignment * alignment;
    content.resize(place + bytes);
    if (data)
      std::memcpy(content.data() + place, data, bytes);
    return place;
  }
  void setAddress(std::size_t place, Address address) {
    std::memcpy(content.data() + place, &address, sizeof address);
  }
  const void *data() const { return content.data(); }
  std::size_t bytes() const { return content.size(); }

private:
  std::vector<std::byte> content;
};

/// Bytes of the value of parameter `i`; of a grid, those of its data. Throws std::runtime_error for
/// a table whose length is not known.
std::size_t valueBytes(const nb_kernel_descriptor &kernel, const void *const *arguments,
                       std::uint32_t i, const ImageShape &shape);

/// Does it stay on the device from run to run?
inline bool isLarge(nb_parameter_kind kind) {
  return kind == NB_PARAMETER_HKL_GRID || kind == NB_PARAMETER_MASK || kind == NB_PARAMETER_IMAGE;
}

} // namespace nanobragg::gpu
#endif
