#include "runtime/kernels/CacheEntry.h"

#include <cstdio>
#include <cstring>
#include <elf.h>
#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nanobragg {
namespace {

constexpr char magic[8] = {'N', 'B', 'K', 'E', 'R', 'N', 'E', 'L'};
constexpr std::uint32_t formatVersion = 1;

struct Trailer {
  std::uint64_t imageBytes, specificationBytes;
  std::uint32_t version;
  std::uint32_t unused[5];
  XXH128_canonical_t checksum; ///< taken over everything before it
  char mark[8];
};
static_assert(sizeof(Trailer) == 64 && offsetof(Trailer, checksum) == 40);
constexpr std::size_t afterChecksum = sizeof(Trailer) - offsetof(Trailer, checksum);

XXH128_canonical_t hashOf(const char *bytes, std::size_t size) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
  return canonical;
}

} // namespace

std::string keyOf(std::string_view specification) {
  const XXH128_canonical_t hash = hashOf(specification.data(), specification.size());
  std::string text;
  for (unsigned char byte : hash.digest) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return text;
}

std::string encodeEntry(const CacheEntry &entry) {
  Trailer trailer = {};
  trailer.imageBytes = entry.image.size();
  trailer.specificationBytes = entry.specification.size();
  trailer.version = formatVersion;
  std::memcpy(trailer.mark, magic, sizeof(magic));

  std::string bytes(entry.image.begin(), entry.image.end());
  bytes += entry.specification;
  bytes.append(reinterpret_cast<const char *>(&trailer), sizeof(trailer));
  const XXH128_canonical_t checksum = hashOf(bytes.data(), bytes.size() - afterChecksum);
  std::memcpy(bytes.data() + bytes.size() - afterChecksum, &checksum, sizeof(checksum));
  return bytes;
}

static void refuse(const char *why) { throw std::runtime_error(why); }

CacheEntry decodeChecked(std::span<const char> bytes) {
  Trailer trailer;
  if (bytes.size() < sizeof(trailer))
    refuse("it is too short to be a kernel");
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof(trailer), sizeof(trailer));
  if (std::memcmp(trailer.mark, magic, sizeof(magic)))
    refuse("it lacks the end of a kernel file: it was cut short, or another program wrote it");
  if (trailer.version != formatVersion)
    refuse("another version of this program wrote it");
  const std::uint64_t payload = bytes.size() - sizeof(trailer);
  if (trailer.imageBytes > payload || trailer.specificationBytes != payload - trailer.imageBytes)
    refuse("its parts are not as long as it says");
  const XXH128_canonical_t checksum = hashOf(bytes.data(), bytes.size() - afterChecksum);
  if (std::memcmp(&checksum, &trailer.checksum, sizeof(checksum)))
    refuse("its checksum is wrong");
  const std::span<const char> image = bytes.first(trailer.imageBytes);
  return {image, {bytes.data() + image.size(), trailer.specificationBytes}};
}

CacheEntry decodeEntry(std::span<const char> bytes) {
  const CacheEntry entry = decodeChecked(bytes);
  if (entry.image.size() < SELFMAG || std::memcmp(entry.image.data(), ELFMAG, SELFMAG))
    refuse("it holds no shared object");
  return entry;
}

} // namespace nanobragg
