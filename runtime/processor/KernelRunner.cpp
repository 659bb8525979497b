#include "runtime/processor/KernelRunner.h"

#include "runtime/kernels/FixedCounts.h"
#include "runtime/processor/AlignedMemory.h"
#include "runtime/processor/Partition.h"
#include "runtime/processor/Progress.h"
#include "runtime/processor/StartableThreads.h"
#include "runtime/processor/Stopwatch.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

std::int64_t rowsPerTile(const ImageShape &shape, const RunOptions &options) {
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

} // namespace

void checkDescriptor(const nb_kernel_descriptor &kernel) {
  if (kernel.abi_version != NB_KERNEL_ABI_VERSION)
    throw std::runtime_error("the kernel speaks version " + std::to_string(kernel.abi_version) +
                             " of the kernel ABI and this program version " +
                             std::to_string(NB_KERNEL_ABI_VERSION) + "; compile it again");
  const auto incomplete = [&] {
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
  return startableThreads(requested > 0 ? requested : tbb::info::default_concurrency());
}

RunResult runKernel(const nb_kernel_descriptor &kernel, const void *const *arguments,
                    const ImageShape &shape, const RenderedRows &rows, void *const *outputs,
                    const RunOptions &options) {
  checkFixed(kernel, arguments);
  RunResult result;
  result.threads = resolveThreads(options.threads);
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };

  const Stopwatch sinceCall;
  result.workspaceBytes = kernel.workspace_size(arguments);
  const AlignedMemory workspace = allocateAligned(result.workspaceBytes, "a workspace");
  kernel.prepare(arguments, workspace.get());
  result.prepareSeconds = sinceCall.seconds();

  const bool sums = hasSums(kernel);
  const std::int64_t size = sums ? kernel.accumulator_size(arguments) : 0;
  const Partition parts = sums ? Partition::forSums(shape, rows, size)
                               : Partition::intoTiles(shape, rowsPerTile(shape, options));
  const PartMemory accumulators(sums ? parts.size() : 0, size, "accumulators");
  const PartMemory scratch(sums ? result.threads : 0, sums ? kernel.scratch_size(arguments) : 0,
                           "scratch memory");
  result.accumulatorBytes = accumulators.bytes() + scratch.bytes();

  std::int64_t rowsToRender = 0;
  for (std::int64_t i = 0; i != parts.size(); ++i)
    rowsToRender += renderedRows(parts[i], shape, rows);
  Progress progress(options.progress, options.progressInterval, rowsToRender);

  std::atomic<bool> begun{false};
  const auto runPart = [&](std::int64_t i, std::int64_t thread) {
    if (cancelled())
      return;
    if (!begun.load(std::memory_order_relaxed) && !begun.exchange(true))
      result.firstTileSeconds = sinceCall.seconds();
    if (sums)
      std::memset(accumulators[i], 0, std::size_t(size));
    forEachTile(parts[i], shape, shape.slow, [&](const nb_tile &tile) {
      kernel.run_tile(arguments, workspace.get(), &tile, outputs, accumulators[i], scratch[thread]);
      progress.add(renderedRows(tile, rows));
    });
  };

  const Stopwatch sincePrepared;
  if (result.threads == 1) {
    for (std::int64_t i = 0; i != parts.size(); ++i)
      runPart(i, 0);
  } else {
    // Without the global limit oneTBB would never start more threads than there are cores.
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                              std::size_t(result.threads));
    tbb::task_arena arena(result.threads);
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::int64_t>(0, parts.size(), 1),
          [&](const tbb::blocked_range<std::int64_t> &range) {
            for (std::int64_t i = range.begin(); i != range.end(); ++i)
              runPart(i, tbb::this_task_arena::current_thread_index());
          },
          tbb::simple_partitioner());
    });
  }
  result.cancelled = cancelled();
  if (!result.cancelled && sums)
    kernel.finish(arguments, workspace.get(), accumulators.addresses(), parts.size(), outputs);
  result.runSeconds = sincePrepared.seconds();
  if (!result.cancelled)
    progress.finish();
  return result;
}

} // namespace nanobragg
