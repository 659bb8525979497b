#include "lib/Experiment/DeviceChoice.h"

#include <charconv>
#include <iterator>

namespace nanobragg {

static constexpr std::string_view names[] = {"auto", "cpu", "gpu-on-cpu", "cuda"};

std::string DeviceChoice::toString() const {
  return std::string(names[std::size_t(kind)]) + (number ? ":" + std::to_string(number) : "");
}

std::optional<DeviceChoice> DeviceChoice::fromString(std::string_view text) {
  for (std::size_t i = 0; i != std::size(names); ++i)
    if (text == names[i])
      return DeviceChoice{Kind(i), 0};
  constexpr std::string_view cuda = "cuda:";
  if (!text.starts_with(cuda))
    return std::nullopt;
  text.remove_prefix(cuda.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return std::nullopt;
  return DeviceChoice{Kind::Cuda, number};
}

} // namespace nanobragg
