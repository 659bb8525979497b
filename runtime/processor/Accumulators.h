// Memory for sums over pixels.
#ifndef NANOBRAGG_RUNTIME_ACCUMULATORS_H
#define NANOBRAGG_RUNTIME_ACCUMULATORS_H

#include "runtime/processor/AlignedMemory.h"

#include <cstdint>

namespace nanobragg {

/// One accumulator for each part of an image; or two in all where one thread goes through the parts
/// in order: the second is added to the first after each part, which is what a kernel's `finish`
/// does at the end with the same rounding. A table of structure factors has megabytes, and a part
/// touches little of it.
class Accumulators {
public:
  /// `size`: bytes of one, doubles.
  Accumulators(std::int64_t parts, std::int64_t size, bool inOrder)
      : folded(inOrder && parts > 2), size(size), memory(folded ? 2 : parts, size, "accumulators") {
  }

  /// The accumulator of a part which begins, zeroed. Null if there are no parts.
  void *begin(std::int64_t part);
  /// The part is done.
  void end(std::int64_t part);

  /// The addresses that `finish` adds up.
  void *const *addresses() const { return memory.addresses(); }
  std::int64_t count() const { return folded ? 1 : memory.count(); }
  std::int64_t bytes() const { return memory.bytes(); }

private:
  bool folded;
  std::int64_t size;
  PartMemory memory;
};

} // namespace nanobragg
#endif
