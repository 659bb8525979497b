// Memory with the alignment of kernels.
#ifndef NANOBRAGG_RUNTIME_ALIGNEDMEMORY_H
#define NANOBRAGG_RUNTIME_ALIGNEDMEMORY_H

#include "lib/Experiment/CheckedSize.h"

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace nanobragg {

constexpr std::align_val_t kernelAlignment{64};

struct FreeAligned {
  void operator()(void *memory) const { ::operator delete(memory, kernelAlignment); }
};
using AlignedMemory = std::unique_ptr<void, FreeAligned>;

/// `bytes` that the kernel asked for; not initialized.
inline AlignedMemory allocateAligned(std::int64_t bytes, const char *what) {
  if (bytes < 0)
    throw std::runtime_error("the kernel asks for " + std::string(what) + " of " +
                             std::to_string(bytes) + " bytes, which is a bug in the kernel");
  return AlignedMemory(::operator new(std::size_t(bytes), kernelAlignment));
}

/// Several pieces of one size, each aligned.
class PartMemory {
public:
  PartMemory(std::int64_t count, std::int64_t size, const char *what)
      : total(productOf({count, size}, what)), memory(allocateAligned(total, what)) {
    for (std::int64_t i = 0; i != count; ++i)
      places.push_back(static_cast<char *>(memory.get()) + i * size);
  }
  std::int64_t bytes() const { return total; }
  std::int64_t count() const { return std::int64_t(places.size()); }
  /// Null if there are none.
  void *operator[](std::int64_t i) const {
    return places.empty() ? nullptr : places[std::size_t(i)];
  }
  void *const *addresses() const { return places.data(); }

private:
  std::int64_t total;
  AlignedMemory memory;
  std::vector<void *> places;
};

} // namespace nanobragg
#endif
