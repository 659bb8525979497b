#include "runtime/processor/KernelRunner.h"

#include <stdexcept>
#include <utility>

namespace nanobragg {

std::vector<std::int64_t> outputSizes(const nb_kernel_descriptor &kernel,
                                      const void *const *arguments, const ImageShape &shape) {
  std::vector<std::int64_t> sizes(kernel.num_outputs, shape.pixels());
  if (kernel.output_sizes)
    kernel.output_sizes(arguments, sizes.data());
  return sizes;
}

void OutputMemory::resize(std::span<const std::int64_t> sizes, void *image) {
  count.assign(sizes.begin(), sizes.end());
  own.resize(sizes.size());
  places.resize(sizes.size());
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    if (kernel.outputs[i].kind == NB_OUTPUT_IMAGE && image) {
      places[i] = std::exchange(image, nullptr);
      own[i] = {};
      continue;
    }
    const bool floats =
        kernel.outputs[i].kind == NB_OUTPUT_IMAGE && kernel.image_type == NB_IMAGE_F32;
    own[i].resize(std::size_t(floats ? (sizes[i] + 1) / 2 : sizes[i]));
    places[i] = own[i].data();
  }
}

bool OutputMemory::isFloat(std::string_view name) const {
  for (std::uint32_t i = 0; i != kernel.num_outputs; ++i)
    if (kernel.outputs[i].name == name)
      return kernel.outputs[i].kind == NB_OUTPUT_IMAGE && kernel.image_type == NB_IMAGE_F32;
  return false;
}

std::size_t OutputMemory::find(std::string_view name, nb_image_type wanted) const {
  const auto refuse = [&](const char *why) {
    throw std::invalid_argument("output '" + std::string(name) + "' " + why);
  };
  for (std::size_t i = 0; i != places.size(); ++i) {
    const nb_kernel_output &output = kernel.outputs[i];
    if (output.name != name)
      continue;
    const bool floats = output.kind == NB_OUTPUT_IMAGE && kernel.image_type == NB_IMAGE_F32;
    if (floats != (wanted == NB_IMAGE_F32))
      refuse(floats ? "holds floats, not doubles" : "holds doubles, not floats");
    if (places[i] != own[i].data())
      refuse("went to memory of the caller");
    return i;
  }
  refuse(places.empty() ? "is not there before the first run" : "is not an output of the kernel");
  return 0;
}

std::span<const double> OutputMemory::numbers(std::string_view name) const {
  const std::size_t i = find(name, NB_IMAGE_F64);
  return {own[i].data(), std::size_t(count[i])};
}

std::span<const float> OutputMemory::floats(std::string_view name) const {
  const std::size_t i = find(name, NB_IMAGE_F32);
  return {static_cast<const float *>(places[i]), std::size_t(count[i])};
}

} // namespace nanobragg
