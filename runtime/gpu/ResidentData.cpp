#include "runtime/gpu/ResidentData.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace nanobragg::gpu {

std::string ResidentData::keyOf(const void *data, std::size_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  char text[80];
  std::snprintf(text, sizeof text, "data %016llx%016llx %zu",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64), bytes);
  return text;
}

bool ResidentData::adopt(Device &device, const std::string &wanted) {
  memory = device.find<const Memory>(wanted);
  key = wanted;
  return memory != nullptr;
}

void ResidentData::upload(Device &device, Queue &queue, const std::string &wanted, const void *data,
                          std::size_t bytes) {
  memory = device.shared<const Memory>(wanted, [&] {
    auto made = std::make_shared<const Memory>(device.shared_from_this(), bytes);
    queue.copyToDevice(made->address(), data, bytes);
    queue.wait("take the data");
    return made;
  });
  key = wanted;
}

} // namespace nanobragg::gpu
