// Entries of the kernel cache, as they are and with a checksum that fits, so that the fuzzer sees
// what lies behind it.
#include "test/fuzz/FuzzTarget.h"

#include "runtime/kernels/CacheEntry.h"

#include <cstring>
#include <stdexcept>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace nanobragg;

namespace {

void decode(fuzz::Bytes bytes) {
  try {
    const CacheEntry entry = decodeEntry(bytes);
    fuzz::require(entry.image.data() == bytes.data() &&
                      entry.image.size() + entry.specification.size() <= bytes.size(),
                  "an entry's parts lie inside it");
    const std::string again = encodeEntry(entry);
    fuzz::require(decodeEntry(again).specification == entry.specification,
                  "an entry that is written again says the same");
  } catch (const std::runtime_error &refusal) {
    fuzz::requireSentence(refusal);
  }
}

} // namespace

NB_FUZZ_TARGET(cache_entry) {
  decode(input);
  constexpr std::size_t fromEnd = 24; // where an entry has its checksum
  if (input.size() < fromEnd)
    return;
  std::string signedBytes(input.begin(), input.end());
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(input.data(), input.size() - fromEnd));
  std::memcpy(signedBytes.data() + input.size() - fromEnd, &checksum, sizeof checksum);
  decode(signedBytes);
}
