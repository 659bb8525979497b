#include "runtime/gpu/RunPlan.h"

#include "runtime/processor/KernelSamples.h"

#include <algorithm>

namespace nanobragg::gpu {

RunPlan::RunPlan(const nb_kernel_descriptor &kernel, const void *const *arguments,
                 const ImageShape &imageShape, std::int64_t residentBlocks, int devices)
    : shape(imageShape), devices(devices) {
  const std::int64_t threads = kernel.device->threads;
  chunksOfRow = (shape.fast + threads - 1) / threads;
  warp = kernel.device->warp;
  warpsOfBlock = threads / warp;
  workspaceBytes = kernel.workspace_size(arguments);
  workspace = allocateAligned(workspaceBytes, "a workspace");
  kernel.prepare(arguments, workspace.get());

  samplesOfPixel = samplesPerPixel(kernel, arguments);
  const std::size_t pixelBytes = kernel.image_type == NB_IMAGE_F32 ? sizeof(float) : sizeof(double);
  for (std::uint32_t i = 0; i != kernel.num_outputs; ++i) {
    const bool image = kernel.outputs[i].kind == NB_OUTPUT_IMAGE;
    imageBytes.push_back(image ? std::size_t(shape.pixels()) * pixelBytes : 0);
    sums |= !image;
  }
  // Pixels are the same bits in any tile; sums are not.
  constexpr std::int64_t ofDevice = 4;
  if (!sums && devices > 1)
    leastTiles = (ofDevice * devices + shape.panels - 1) / shape.panels;
  tiles = planTiles(shape, samplesOfPixel, threads, residentBlocks, leastTiles);
  if (sums) {
    accumulatorBytes = kernel.accumulator_size(arguments);
    blocksOfSums = blocksForSums(residentBlocks, accumulatorBytes, warpsOfBlock);
  }

  pointersAt = block.append(nullptr, kernel.num_parameters * sizeof(Address));
  outputsAt = block.append(nullptr, kernel.num_outputs * sizeof(Address));
  tilesAt = block.append(tiles.data(), tiles.size() * sizeof(nb_tile));
  for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
    const nb_parameter_kind kind = kernel.parameters[i].kind;
    const std::size_t bytes = kind == NB_PARAMETER_HKL_GRID ? sizeof(nb_hkl_grid)
                              : isLarge(kind) ? 0
                                              : valueBytes(kernel, arguments, i, shape);
    valuesAt.push_back(block.append(bytes ? arguments[i] : nullptr, bytes));
  }
  workspaceAt = block.append(workspace.get(), std::size_t(workspaceBytes));
}

std::size_t RunPlan::portionsOf(std::size_t launches) const {
  constexpr std::int64_t most = 16, mostBytes = 1 << 30; // as many as machines have GPUs
  if (!sums)
    return devices == 1 ? 1 : launches;
  const std::int64_t room = mostBytes / std::max<std::int64_t>(accumulatorBytes, 1);
  return std::min(launches, std::size_t(std::clamp<std::int64_t>(room, 1, most)));
}

} // namespace nanobragg::gpu
