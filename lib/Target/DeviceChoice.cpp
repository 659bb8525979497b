#include "nanobragg/DeviceChoice.h"

#include "lib/Target/GpuVendor.h"

#include <charconv>
#include <iterator>
#include <stdexcept>

namespace nanobragg {

static constexpr std::string_view names[] = {"auto", "cpu", "gpu-on-cpu"};
/// The program of a GPU whose warps have 64 threads, as AMD's gfx9 has them.
static constexpr std::string_view wideTwin = "gpu-on-cpu:64";
static constexpr std::string_view several = "all";

std::string DeviceChoice::toString() const {
  if (kind == Kind::GpuOnCpu && warp != usualWarp)
    return std::string(wideTwin);
  if (kind != Kind::Gpu)
    return std::string(names[std::size_t(kind)]);
  if (!vendor)
    return std::string(several);
  const std::string device(vendor->device);
  return number == every ? device + ":" + std::string(several)
         : number        ? device + ":" + std::to_string(number)
                         : device;
}

std::optional<DeviceChoice> DeviceChoice::fromString(std::string_view text) {
  for (std::size_t i = 0; i != std::size(names); ++i)
    if (text == names[i])
      return DeviceChoice{Kind(i)};
  if (text == wideTwin)
    return DeviceChoice(Kind::GpuOnCpu, 0, nullptr, 64);
  if (text == several)
    return DeviceChoice{Kind::Gpu, every};
  const std::string_view device = text.substr(0, text.find(':'));
  for (const GpuVendor &vendor : gpuVendors()) {
    if (device != vendor.device)
      continue;
    if (device == text)
      return DeviceChoice{Kind::Gpu, 0, &vendor};
    text.remove_prefix(device.size() + 1);
    if (text == several)
      return DeviceChoice{Kind::Gpu, every, &vendor};
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0)
      return std::nullopt;
    return DeviceChoice{Kind::Gpu, number, &vendor};
  }
  return std::nullopt;
}

std::string DeviceChoice::words() {
  std::string all;
  for (const std::string_view name : names)
    all += std::string(name) + ", ";
  all += std::string(wideTwin) + ", " + std::string(several);
  for (const GpuVendor &vendor : gpuVendors())
    for (const char *which : {"", ":N", ":all"})
      all += ", " + std::string(vendor.device) + which;
  return all;
}

std::string DeviceChoice::refusal(std::string_view text) {
  return "'" + std::string(text) + "' is not a device; use one of " + words();
}

DeviceChoice::DeviceChoice(const std::string &text) {
  if (text.empty())
    return;
  const auto choice = fromString(text);
  if (!choice)
    throw std::invalid_argument(refusal(text));
  *this = *choice;
}

} // namespace nanobragg
