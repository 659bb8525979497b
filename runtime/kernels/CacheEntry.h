// The bytes of one kernel that is kept, in the cache or in a file of nb-compile.
//
// An entry is a shared object with its specification behind it, and a checksum of all:
//
//   ELF image | specification (text) | trailer (64 bytes)
//
// The dynamic loader ignores what follows the image, so an entry can be opened as it is.
#ifndef NANOBRAGG_RUNTIME_CACHEENTRY_H
#define NANOBRAGG_RUNTIME_CACHEENTRY_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nanobragg {

struct CacheEntry {
  std::span<const char> image;
  std::string_view specification;
};

/// Entries are not larger, whatever a file claims.
constexpr std::uint64_t mostEntryBytes = 64u << 20;

/// 32 hexadecimal digits (XXH3, 128 bits) that name the entry of this specification. The hash need
/// not withstand an attacker: entries lie where only their owner can write, and the specification
/// is compared in full.
std::string keyOf(std::string_view specification);

std::string encodeEntry(const CacheEntry &entry);

/// The parts of `bytes`, which must outlive them; throws std::runtime_error saying what is wrong.
CacheEntry decodeEntry(std::span<const char> bytes);

/// The same where something else than a shared object stands in its place, as a schedule.
CacheEntry decodeChecked(std::span<const char> bytes);

} // namespace nanobragg
#endif
