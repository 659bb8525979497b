#include "lib/Target/DeviceChoice.h"

#include <charconv>
#include <iterator>
#include <stdexcept>

namespace nanobragg {

static constexpr std::string_view names[] = {"auto", "cpu", "gpu-on-cpu"};
/// The program of a GPU whose warps have 64 threads, as AMD's gfx9 has them.
static constexpr std::string_view wideTwin = "gpu-on-cpu:64";

std::string DeviceChoice::toString() const {
  if (kind == Kind::GpuOnCpu && warp != usualWarp)
    return std::string(wideTwin);
  if (kind != Kind::Gpu)
    return std::string(names[std::size_t(kind)]);
  return std::string(vendor->device) + (number ? ":" + std::to_string(number) : "");
}

std::optional<DeviceChoice> DeviceChoice::fromString(std::string_view text) {
  for (std::size_t i = 0; i != std::size(names); ++i)
    if (text == names[i])
      return DeviceChoice{Kind(i)};
  if (text == wideTwin)
    return DeviceChoice{.kind = Kind::GpuOnCpu, .warp = 64};
  const std::string_view device = text.substr(0, text.find(':'));
  for (const GpuVendor &vendor : gpuVendors()) {
    if (device != vendor.device)
      continue;
    if (device == text)
      return DeviceChoice{Kind::Gpu, 0, &vendor};
    text.remove_prefix(device.size() + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0)
      return std::nullopt;
    return DeviceChoice{Kind::Gpu, number, &vendor};
  }
  return std::nullopt;
}

std::string DeviceChoice::refusal(std::string_view text) {
  std::string all =
      "'" + std::string(text) + "' is no device; say auto, cpu, gpu-on-cpu, gpu-on-cpu:64";
  for (const GpuVendor &vendor : gpuVendors())
    all += ", " + std::string(vendor.device) + " or " + std::string(vendor.device) + ":N";
  return all;
}

DeviceChoice DeviceChoice::parse(std::string_view text) {
  if (const auto choice = fromString(text))
    return *choice;
  throw std::invalid_argument(refusal(text));
}

} // namespace nanobragg
