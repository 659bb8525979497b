// Memory that is touched once.
#ifndef NANOBRAGG_PARALLEL_LARGEPAGES_H
#define NANOBRAGG_PARALLEL_LARGEPAGES_H

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

namespace nanobragg {

constexpr std::size_t largePage = std::size_t(2) << 20;

/// To be called before large memory is written for the first time: the system gives it in pages of
/// 2 MB where it can. Touching a small one takes as long as parsing ten lines or rendering a
/// hundred samples.
inline void preferLargePages(void *memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (address + largePage - 1) / largePage * largePage;
  const std::uintptr_t end = (address + bytes) / largePage * largePage;
  if (begin < end)
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE); // else small ones
#endif
}

} // namespace nanobragg
#endif
