// Data that stay on the device between runs.
#ifndef NANOBRAGG_RUNTIME_GPU_RESIDENTDATA_H
#define NANOBRAGG_RUNTIME_GPU_RESIDENTDATA_H

#include "runtime/gpu/Memory.h"

namespace nanobragg::gpu {

/// A copy of data that many runs read and few change: structure factors, a mask. Known by content
/// (XXH3, 128 bits), since whoever owns the numbers may change them in place; all runs of the
/// process that need the same bytes share one copy.
class ResidentData {
public:
  /// The key of `bytes` at `data`.
  static std::string keyOf(const void *data, std::size_t bytes);

  /// Is this what it holds?
  bool holds(const std::string &wanted) const { return memory && key == wanted; }
  /// Lets go of what it holds; the device forgets it unless others hold it too.
  void reset() { memory.reset(); }
  /// Takes the copy that another one holds, if there is one.
  bool adopt(Device &device, const std::string &wanted);
  /// Copies, and waits for that, so that any queue may read it.
  void upload(Device &device, Queue &queue, const std::string &wanted, const void *data,
              std::size_t bytes);

  Address address() const { return memory->address(); }
  std::size_t bytes() const { return memory ? memory->bytes() : 0; }

private:
  std::string key;
  std::shared_ptr<const Memory> memory;
};

} // namespace nanobragg::gpu
#endif
