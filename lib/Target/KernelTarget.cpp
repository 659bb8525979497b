#include "lib/Target/KernelTarget.h"

#include "nanobragg/DeviceChoice.h"

namespace nanobragg {

KernelTarget KernelTarget::fromString(std::string_view text) {
  if (text == "native")
    return {};
  if (text == "host-of-gpu")
    return {.kind = Kind::HostOfGpu};
  if (const auto device = DeviceChoice::fromString(text);
      device && device->kind == DeviceChoice::Kind::GpuOnCpu)
    return {.kind = Kind::GpuOnCpu, .warp = device->warp};
  return {.kind = vendorOfChip(text) ? Kind::Chip : Kind::Processor, .name = std::string(text)};
}

std::vector<KernelTarget> KernelTarget::listFromString(std::string_view text) {
  std::vector<KernelTarget> all;
  for (;;) {
    const std::size_t comma = text.find(',');
    all.push_back(fromString(text.substr(0, comma)));
    if (comma == text.npos)
      return all;
    text.remove_prefix(comma + 1);
  }
}

std::string KernelTarget::toString() const {
  switch (kind) {
  case Kind::Native:
    return "native";
  case Kind::GpuOnCpu:
    return DeviceChoice(DeviceChoice::Kind::GpuOnCpu, 0, nullptr, warp).toString();
  case Kind::HostOfGpu:
    return "host-of-gpu";
  case Kind::Processor:
  case Kind::Chip:
    return name;
  }
  return {};
}

} // namespace nanobragg
