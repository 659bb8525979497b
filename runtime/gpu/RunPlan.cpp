#include "runtime/gpu/RunPlan.h"

#include "runtime/processor/KernelSamples.h"

namespace nanobragg::gpu {

RunPlan::RunPlan(const nb_kernel_descriptor &kernel, const void *const *arguments,
                 const ImageShape &imageShape, std::int64_t residentBlocks)
    : shape(imageShape) {
  const std::int64_t threads = kernel.device->threads;
  chunksOfRow = (shape.fast + threads - 1) / threads;
  warp = kernel.device->warp;
  warpsOfBlock = threads / warp;
  workspaceBytes = kernel.workspace_size(arguments);
  workspace = allocateAligned(workspaceBytes, "a workspace");
  kernel.prepare(arguments, workspace.get());

  samplesOfPixel = samplesPerPixel(kernel, arguments);
  tiles = planTiles(shape, samplesOfPixel, threads, residentBlocks);
  const std::size_t pixelBytes = kernel.image_type == NB_IMAGE_F32 ? sizeof(float) : sizeof(double);
  for (std::uint32_t i = 0; i != kernel.num_outputs; ++i) {
    const bool image = kernel.outputs[i].kind == NB_OUTPUT_IMAGE;
    imageBytes.push_back(image ? std::size_t(shape.pixels()) * pixelBytes : 0);
    sums |= !image;
  }
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

} // namespace nanobragg::gpu
