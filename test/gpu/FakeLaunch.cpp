// A launch by the fake driver.
#include "test/gpu/FakeDevice.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace fake {
namespace {

const nb_kernel_descriptor &twinOf(const Module &module) {
  static std::map<std::string, const nb_kernel_descriptor *> loaded;
  static std::mutex loading;
  const std::lock_guard lock(loading);
  const std::string variable = module.sums ? "NB_FAKE_CUDA_TWIN_SUMS" : "NB_FAKE_CUDA_TWIN";
  const nb_kernel_descriptor *&kernel = loaded[variable];
  if (kernel)
    return *kernel;
  const char *file = std::getenv(variable.c_str());
  void *library = file ? ::dlopen(file, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library)
    wrong(variable + " names no kernel file");
  const auto get =
      reinterpret_cast<nb_kernel_get_descriptor_fn>(::dlsym(library, "nb_kernel_get_descriptor"));
  kernel = get();
  return *kernel;
}

/// The pointers that a kernel follows.
void checkArguments(const nb_kernel_descriptor &kernel, Address arguments, Address outputs,
                    std::size_t pixels) {
  const auto *values = onDevice<const Address>(arguments, kernel.num_parameters, "arguments");
  for (unsigned i = 0; i != kernel.num_parameters; ++i) {
    const std::string name = kernel.parameters[i].name;
    static constexpr std::size_t sizes[] = {8, 8, 24, 72, 8, 24, sizeof(nb_hkl_grid), 1, 8};
    const nb_parameter_kind kind = kernel.parameters[i].kind;
    const bool perPixel = kind == NB_PARAMETER_MASK || kind == NB_PARAMETER_IMAGE;
    checkRange(values[i], sizes[kind] * (perPixel ? pixels : 1), "the value of " + name);
    if (kind != NB_PARAMETER_HKL_GRID)
      continue;
    const auto &grid = *reinterpret_cast<const nb_hkl_grid *>(values[i]);
    const auto box = (grid.h_max - grid.h_min + 1) * (grid.k_max - grid.k_min + 1) *
                     (grid.l_max - grid.l_min + 1);
    checkRange(reinterpret_cast<Address>(grid.data), std::size_t(box) * 8, "the data of " + name);
  }
  const auto *places = onDevice<const Address>(outputs, kernel.num_outputs, "outputs");
  for (unsigned i = 0; i != kernel.num_outputs; ++i)
    if (kernel.outputs[i].kind == NB_OUTPUT_IMAGE)
      checkRange(places[i], pixels * (kernel.image_type == NB_IMAGE_F32 ? 4 : 8),
                 std::string("the output ") + kernel.outputs[i].name);
}

std::int64_t indexOf(const nb_kernel_descriptor &kernel, const Address *values, const char *name) {
  for (unsigned i = 0; i != kernel.num_parameters; ++i)
    if (std::strcmp(kernel.parameters[i].name, name) == 0)
      return *reinterpret_cast<const std::int64_t *>(values[i]);
  return 1;
}

/// Blocks of a launch that renders these lists, whose pointers are into the device's memory.
std::int64_t blocksOf(Address address) {
  const nb_lit &lit = *onDevice<const nb_lit>(address, 1, "the lists of what is lit");
  const auto check = [](const std::int32_t *list, std::int64_t count, const char *what) {
    checkRange(reinterpret_cast<Address>(list), std::size_t(count) * sizeof *list, what);
  };
  check(lit.slow, lit.blocks, "the rows of lit blocks");
  check(lit.fast, lit.blocks, "the columns of lit blocks");
  check(lit.outer_begin, lit.blocks + 1, "where the beams of lit blocks begin");
  const std::int64_t outers = lit.outer_begin[lit.blocks];
  check(lit.outer, outers, "the beams of lit blocks");
  check(lit.inner_begin, outers + 1, "where the bases of lit blocks begin");
  check(lit.inner, lit.inner_begin[outers], "the bases of lit blocks");
  check(lit.slow_end, 1, "where the rows of lit blocks end");
  const std::int64_t warps = 128 / warp();
  return (lit.blocks + warps - 1) / warps;
}

} // namespace

Result render(const Module &module, unsigned blocks, unsigned threads, void **parameters) {
  const nb_kernel_descriptor &kernel = twinOf(module);
  Address at[5];
  for (int i = 0; i != 5; ++i)
    at[i] = *static_cast<Address *>(parameters[i]);
  const auto *values = onDevice<const Address>(at[0], kernel.num_parameters, "arguments");
  for (unsigned i = 0; i != kernel.num_parameters; ++i)
    checkRange(values[i], 1, std::string("the value of ") + kernel.parameters[i].name);
  const std::int64_t fast = indexOf(kernel, values, "fast_pixels"),
                     pixels = fast * indexOf(kernel, values, "slow_pixels") *
                              indexOf(kernel, values, "panel_count");
  checkArguments(kernel, at[0], at[3], std::size_t(pixels));
  const auto *arguments = reinterpret_cast<const void *const *>(at[0]);
  const auto *tile = onDevice<const nb_tile>(at[2], 1, "the tile");
  onDevice<char>(at[1], std::size_t(kernel.workspace_size(arguments)), "the workspace");
  if (kernel.accumulator_size)
    onDevice<char>(at[4], std::size_t(kernel.accumulator_size(arguments)), "the accumulators");
  const std::int64_t chunks = kernel.reach
                                  ? blocksOf(reinterpret_cast<Address>(tile->lit))
                                  : (tile->slow_end - tile->slow_begin) * ((fast + 127) / 128);
  if (threads != 128 || (!kernel.accumulator_size && blocks != chunks))
    wrong("a launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
          " threads for " + std::to_string(chunks) + " chunks");
  kernel.run_tile(arguments, reinterpret_cast<void *>(at[1]), tile,
                  reinterpret_cast<void *const *>(at[3]), reinterpret_cast<void *>(at[4]), nullptr);
  return Success;
}

} // namespace fake
