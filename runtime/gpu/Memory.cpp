#include "runtime/gpu/Memory.h"

#include <cstdio>

namespace nanobragg::gpu {

static constexpr const char *remedy =
    "; render fewer pixels (-detpixels, -roi), end other programs on the GPU, or use --device=cpu";

std::string bytesText(std::size_t bytes) {
  char text[32];
  const double number = double(bytes);
  if (number >= 1e9)
    std::snprintf(text, sizeof text, "%.1f GB", number / 1e9);
  else if (number >= 1e6)
    std::snprintf(text, sizeof text, "%.1f MB", number / 1e6);
  else
    std::snprintf(text, sizeof text, "%.1f kB", number / 1e3);
  return text;
}

Memory::Memory(std::shared_ptr<Device> on, std::size_t bytes) : device(std::move(on)), size(bytes) {
  if (bytes == 0)
    return;
  place = device->allocate(bytes);
  if (!place)
    throw std::runtime_error("the GPU " + device->describe() + " has no " + bytesText(bytes) +
                             " of memory in one piece, though " + bytesText(device->memory().free) +
                             " are free" + remedy);
}

void Memory::copyTo(void *to, std::size_t bytes) const {
  const auto queue = device->openQueue();
  queue->copyToHost(to, place, bytes);
  queue->wait("hand out the results");
}

Memory::~Memory() {
  if (place)
    device->free(place);
}

void MemoryNeed::add(const char *what, std::size_t bytes) {
  if (bytes == 0)
    return;
  parts.push_back({what, bytes});
  sum += bytes;
}

void MemoryNeed::check(const Device &device) const {
  const MemoryInfo info = device.memory();
  if (sum <= info.free)
    return;
  std::string list;
  for (const Part &part : parts)
    list += (list.empty() ? "" : ", ") + std::string(part.what) + " " + bytesText(part.bytes);
  throw std::runtime_error("the GPU " + device.describe() +
                           " has too little memory: " + bytesText(sum) + " are needed (" + list +
                           ") and " + bytesText(info.free) + " of " + bytesText(info.total) +
                           " are free" + remedy);
}

} // namespace nanobragg::gpu
