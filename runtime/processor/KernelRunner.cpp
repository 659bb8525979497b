#include "runtime/processor/KernelRunner.h"

#include "lib/Parallel/ThreadTeam.h"
#include "lib/Trace/Trace.h"
#include "runtime/processor/Accumulators.h"
#include "runtime/processor/FixedCounts.h"
#include "runtime/processor/KernelSamples.h"
#include "runtime/processor/LitTile.h"
#include "runtime/processor/Partition.h"
#include "runtime/processor/Progress.h"
#include "runtime/processor/Stopwatch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

/// The default: waking another thread takes about as long as these samples.
int threadsFor(const nb_kernel_descriptor &kernel, const void *const *arguments,
               const ImageShape &shape, const RenderedRows &rows, int wanted) {
  constexpr double samplesOfThread = 2e4;
  const double pixels = double(shape.panels * (rows.end - rows.begin) * shape.fast);
  const double enough = pixels * samplesPerPixel(kernel, arguments) / samplesOfThread;
  if (wanted == 0 && enough < 2)
    return 1;
  const int most = resolveThreads(wanted);
  return wanted > 0 ? most : int(std::min(enough, double(most)));
}

std::int64_t wholeBlocks(std::int64_t rows, const Reach &reach) {
  return (rows + reach.blockRows - 1) / reach.blockRows * reach.blockRows;
}

std::int64_t rowsPerTile(const ImageShape &shape, const RunOptions &options, const Reach *reach) {
  // The search in each tile costs less in large ones, whose bits still fit into a cache.
  constexpr std::int64_t culledTilesPerThread = 6, fewest = 16, most = 256, words = 1 << 18;
  if (reach && options.rowsPerTile <= 0) {
    const std::int64_t ofRow =
        (shape.fast / reach->pixelsOfBlock() + 1) * (std::int64_t(reach->pairsOfBlock) / 64 + 1);
    return wholeBlocks(
        std::clamp<std::int64_t>(shape.panels * shape.slow /
                                     (culledTilesPerThread * threadsOf(options.threads)),
                                 1, std::clamp(words / ofRow, fewest, most)),
        *reach);
  }
  return options.rowsPerTile > 0
             ? options.rowsPerTile
             : chooseRowsPerTile(shape.panels * shape.slow, resolveThreads(options.threads));
}

/// Can this be run on some GPU?
bool isComplete(const nb_device_kernel &device, bool sums) {
  return device.entry && (device.reduce || !sums) && device.threads && device.num_codes &&
         device.codes &&
         std::all_of(device.codes, device.codes + device.num_codes, [](const nb_device_code &c) {
           return c.chip && c.kind && c.version && c.bytes && c.size;
         });
}

bool hasSums(const nb_kernel_descriptor &kernel) {
  return std::any_of(kernel.outputs, kernel.outputs + kernel.num_outputs,
                     [](const nb_kernel_output &o) { return o.kind != NB_OUTPUT_IMAGE; });
}

/// Pixels that a culled kernel is not asked for are zero.
void clearRows(const nb_kernel_descriptor &kernel, const ImageShape &shape, const nb_tile &tile,
               void *const *outputs) {
  const std::size_t size = kernel.image_type == NB_IMAGE_F32 ? sizeof(float) : sizeof(double);
  const auto first = std::size_t((tile.panel * shape.slow + tile.slow_begin) * shape.fast);
  const auto count = std::size_t((tile.slow_end - tile.slow_begin) * shape.fast);
  for (std::uint32_t i = 0; i != kernel.num_outputs; ++i)
    if (kernel.outputs[i].kind == NB_OUTPUT_IMAGE)
      std::memset(static_cast<char *>(outputs[i]) + first * size, 0, count * size);
}

} // namespace

void checkDescriptor(const nb_kernel_descriptor &kernel) {
  if (kernel.abi_version != NB_KERNEL_ABI_VERSION)
    throw std::runtime_error("the kernel speaks version " + std::to_string(kernel.abi_version) +
                             " of the kernel ABI and this program version " +
                             std::to_string(NB_KERNEL_ABI_VERSION) + "; compile it again");
  if (const std::uint64_t unknown = kernel.needs & ~std::uint64_t(NB_KERNEL_NEEDS_KNOWN))
    throw std::runtime_error("the kernel needs features of a later version of nanobragg (bits " +
                             std::to_string(unknown) +
                             "); compile it with this version, or run it with a later one");
  const auto incomplete = [&] {
    if (!NB_KERNEL_HAS(&kernel, reach_tables_size))
      return true;
    if (kernel.reach && !(kernel.reach_numbers_size && kernel.reach_tables_size))
      return true;
    if (!kernel.workspace_size || !kernel.prepare || !kernel.num_outputs || !kernel.outputs ||
        (kernel.num_parameters && !kernel.parameters))
      return true;
    const bool sums = hasSums(kernel), gpu = kernel.device;
    if (sums && (!kernel.accumulator_size || (!gpu && !kernel.scratch_size) || !kernel.finish ||
                 !kernel.output_sizes))
      return true;
    return gpu ? !isComplete(*kernel.device, sums) : !kernel.run_tile;
  };
  if (incomplete())
    throw std::runtime_error("the kernel's descriptor is incomplete; compile it again");
}

int resolveThreads(int requested) {
  if (requested > mostThreads)
    throw std::invalid_argument("threads: " + std::to_string(requested) + " are too many, " +
                                std::to_string(mostThreads) + " is the most");
  return threadsOf(requested);
}

RunResult runKernel(const nb_kernel_descriptor &kernel, const void *const *arguments,
                    const ImageShape &shape, const RenderedRows &rows, void *const *outputs,
                    const RunOptions &options) {
  checkFixed(kernel, arguments);
  RunResult result;
  ThreadTeam team(threadsFor(kernel, arguments, shape, rows, options.threads));
  result.threads = team.size();
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };

  const Stopwatch sinceCall;
  result.workspaceBytes = kernel.workspace_size(arguments);
  const AlignedMemory workspace = allocateAligned(result.workspaceBytes, "a workspace");
  {
    const trace::Span span("run", "prepare");
    kernel.prepare(arguments, workspace.get());
  }
  result.prepareSeconds = sinceCall.seconds();

  const Stopwatch sincePrepared;
  std::optional<Reach> reach;
  std::vector<LitTile> lit; // one for each thread
  if (kernel.reach) {
    const trace::Span span("run", "find out what is lit");
    reach.emplace(kernel, arguments, workspace.get(), team);
    for (int i = 0; i != result.threads; ++i)
      lit.emplace_back(*reach);
  }

  const bool sums = hasSums(kernel);
  const std::int64_t size = sums ? kernel.accumulator_size(arguments) : 0;
  const Partition parts =
      sums ? Partition::forSums(shape, rows, size, reach.has_value())
           : Partition::intoTiles(shape, rowsPerTile(shape, options, reach ? &*reach : nullptr));
  Accumulators accumulators(sums ? parts.size() : 0, size, result.threads == 1);
  const PartMemory scratch(sums ? result.threads : 0, sums ? kernel.scratch_size(arguments) : 0,
                           "scratch memory");
  result.accumulatorBytes = accumulators.bytes() + scratch.bytes();

  std::int64_t rowsToRender = 0;
  for (std::int64_t i = 0; i != parts.size(); ++i)
    rowsToRender += renderedRows(parts[i], shape, rows);
  Progress progress(options.progress, options.progressInterval, rowsToRender);

  std::atomic<bool> begun{false};
  const auto runPart = [&](std::int64_t i, int thread) {
    if (cancelled())
      return;
    if (!begun.load(std::memory_order_relaxed) && !begun.exchange(true))
      result.firstTileSeconds = sinceCall.seconds();
    void *const accumulator = accumulators.begin(i);
    forEachTile(parts[i], shape, shape.slow, [&](const nb_tile &tile) {
      trace::Span span("run", "tile");
      span.explain([&] {
        return "panel " + std::to_string(tile.panel) + ", rows " + std::to_string(tile.slow_begin) +
               " to " + std::to_string(tile.slow_end - 1);
      });
      const auto run = [&](const nb_tile &tile) {
        kernel.run_tile(arguments, workspace.get(), &tile, outputs, accumulator, scratch[thread]);
      };
      if (!reach) {
        run(tile);
      } else {
        if (options.images)
          clearRows(kernel, shape, tile, outputs);
        lit[std::size_t(thread)].forEachList(tile, [&](const nb_lit &lists) {
          nb_tile some = tile;
          some.lit = &lists;
          run(some);
        });
      }
      progress.add(renderedRows(tile, rows));
    });
    accumulators.end(i);
  };

  team.forEach(parts.size(), runPart);
  result.cancelled = cancelled();
  result.culled = reach.has_value();
  for (const LitTile &of : lit) {
    result.samplesLit += of.samplesLit * reach->samplesPerPixel;
    result.samplesEvaluated +=
        of.samplesEvaluated * double(reach->pixelsOfBlock()) * reach->samplesPerPixel;
  }
  if (!result.cancelled && sums) {
    const trace::Span span("run", "finish the sums");
    kernel.finish(arguments, workspace.get(), accumulators.addresses(), accumulators.count(),
                  outputs);
  }
  result.runSeconds = sincePrepared.seconds();
  if (!result.cancelled)
    progress.finish();
  return result;
}

} // namespace nanobragg
