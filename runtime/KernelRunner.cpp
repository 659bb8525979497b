//===- KernelRunner.cpp ---------------------------------------------------===//
#include "nanobragg/KernelRunner.h"

#include "Progress.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::align_val_t workspaceAlignment{64};

struct FreeWorkspace {
  void operator()(void *memory) const { ::operator delete(memory, workspaceAlignment); }
};
using Workspace = std::unique_ptr<void, FreeWorkspace>;

Workspace allocateWorkspace(std::int64_t bytes) {
  if (bytes < 0)
    throw std::runtime_error("the kernel asks for a workspace of " + std::to_string(bytes) +
                             " bytes, which is a bug in the kernel");
  return Workspace(::operator new(std::size_t(bytes), workspaceAlignment));
}

/// Enough tiles that the threads finish together, few enough that starting one costs nothing.
std::int64_t chooseRowsPerTile(std::int64_t rows, int threads) {
  constexpr std::int64_t tilesPerThread = 32, most = 16;
  return std::clamp<std::int64_t>(rows / (tilesPerThread * threads), 1, most);
}

/// The image cut into tiles that do not cross panels, numbered from 0.
class Tiling {
public:
  Tiling(const ImageShape &shape, std::int64_t rowsPerTile)
      : slow(shape.slow), rowsPerTile(rowsPerTile),
        perPanel((shape.slow + rowsPerTile - 1) / rowsPerTile), count(perPanel * shape.panels) {}

  std::int64_t size() const { return count; }
  nb_tile operator[](std::int64_t i) const {
    const std::int64_t begin = (i % perPanel) * rowsPerTile;
    return {i / perPanel, begin, std::min(begin + rowsPerTile, slow)};
  }

private:
  std::int64_t slow, rowsPerTile, perPanel, count;
};

/// Rows of the tile that lie in the region of interest: the others cost next to nothing and would
/// make a progress bar lie.
std::int64_t renderedRows(const nb_tile &tile, const RenderedRows &rows) {
  const std::int64_t begin = std::max(tile.slow_begin, rows.begin);
  const std::int64_t end = std::min(tile.slow_end, rows.end);
  return std::max<std::int64_t>(end - begin, 0);
}

const char *nameOf(nb_image_type type) { return type == NB_IMAGE_F32 ? "float" : "double"; }

} // namespace

void checkDescriptor(const nb_kernel_descriptor &kernel) {
  if (kernel.abi_version != NB_KERNEL_ABI_VERSION)
    throw std::runtime_error("the kernel speaks version " + std::to_string(kernel.abi_version) +
                             " of the kernel ABI and this program version " +
                             std::to_string(NB_KERNEL_ABI_VERSION) + "; compile it again");
  if (!kernel.workspace_size || !kernel.prepare || !kernel.run_tile ||
      (kernel.num_parameters && !kernel.parameters))
    throw std::runtime_error("the kernel's descriptor is incomplete; compile it again");
}

int resolveThreads(int requested) {
  return requested > 0 ? requested : tbb::info::default_concurrency();
}

static const nb_kernel_descriptor &checked(const KernelHandle &kernel) {
  if (!kernel)
    throw std::invalid_argument("there is no kernel to run");
  checkDescriptor(*kernel);
  return *kernel;
}

KernelRunner::KernelRunner(KernelHandle handle, const Experiment &experiment)
    : kernel(std::move(handle)), experiment(experiment), parameters(checked(kernel), experiment) {}

ImageShape KernelRunner::shape() const {
  return {experiment.panelCount(), experiment.detector.slowPixels, experiment.detector.fastPixels};
}

RunResult KernelRunner::run(std::span<float> image, const RunOptions &options) {
  return run(image.data(), std::int64_t(image.size()), NB_IMAGE_F32, options);
}

RunResult KernelRunner::run(std::span<double> image, const RunOptions &options) {
  return run(image.data(), std::int64_t(image.size()), NB_IMAGE_F64, options);
}

RunResult KernelRunner::run(void *image, std::int64_t pixels, nb_image_type type,
                            const RunOptions &options) {
  if (type != kernel->image_type)
    throw std::invalid_argument(std::string("the kernel renders ") + nameOf(kernel->image_type) +
                                " pixels but the image holds " + nameOf(type));
  if (pixels != shape().pixels())
    throw std::invalid_argument("the image holds " + std::to_string(pixels) +
                                " pixels but the experiment has " +
                                std::to_string(shape().pixels()));

  const Detector &detector = experiment.detector;
  return runKernel(*kernel, parameters.arguments(), shape(),
                   {detector.roiSlowMin, detector.roiSlowMax + 1}, image, options);
}

/// Throws unless the counts that were compiled in are those that the kernel is given.
static void checkFixed(const nb_kernel_descriptor &kernel, const void *const *arguments) {
  constexpr std::string_view mark = NB_KERNEL_FIXED;
  std::string_view rest = kernel.structure ? kernel.structure : "";
  for (std::size_t at; (at = rest.find(mark)) != rest.npos;) {
    rest.remove_prefix(at + mark.size());
    const std::string word(rest.substr(0, rest.find(' ')));
    const std::string name = word.substr(0, word.find('='));
    for (std::uint32_t i = 0; i != kernel.num_parameters; ++i) {
      if (name != kernel.parameters[i].name || kernel.parameters[i].kind != NB_PARAMETER_INDEX)
        continue;
      const auto value = *static_cast<const std::int64_t *>(arguments[i]);
      if (word != name + "=" + std::to_string(value))
        throw std::invalid_argument("the kernel was compiled for " + word + " and " + name + "=" +
                                    std::to_string(value) + " is needed; compile one without that");
    }
  }
}

RunResult runKernel(const nb_kernel_descriptor &kernel, const void *const *arguments,
                    const ImageShape &shape, const RenderedRows &rows, void *image,
                    const RunOptions &options) {
  checkFixed(kernel, arguments);
  RunResult result;
  result.threads = resolveThreads(options.threads);
  const auto cancelled = [&] { return options.cancel && options.cancel->requested(); };

  const auto called = Clock::now();
  auto start = called;
  result.workspaceBytes = kernel.workspace_size(arguments);
  const Workspace workspace = allocateWorkspace(result.workspaceBytes);
  kernel.prepare(arguments, workspace.get());
  result.prepareSeconds = secondsSince(start);

  const std::int64_t allRows = shape.panels * shape.slow;
  const Tiling tiles(shape, options.rowsPerTile > 0 ? options.rowsPerTile
                                                    : chooseRowsPerTile(allRows, result.threads));
  std::int64_t rowsToRender = 0;
  for (std::int64_t i = 0; i != tiles.size(); ++i)
    rowsToRender += renderedRows(tiles[i], rows);
  Progress progress(options.progress, options.progressInterval, rowsToRender);

  std::atomic<bool> begun{false};
  const auto runTile = [&](std::int64_t i) {
    if (cancelled())
      return;
    if (!begun.load(std::memory_order_relaxed) && !begun.exchange(true))
      result.firstTileSeconds = secondsSince(called);
    const nb_tile tile = tiles[i];
    kernel.run_tile(arguments, workspace.get(), &tile, image);
    progress.add(renderedRows(tile, rows));
  };

  start = Clock::now();
  if (result.threads == 1) {
    for (std::int64_t i = 0; i != tiles.size(); ++i)
      runTile(i);
  } else {
    // Without the global limit oneTBB would never start more threads than there are cores.
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                              std::size_t(result.threads));
    tbb::task_arena arena(result.threads);
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::int64_t>(0, tiles.size(), 1),
          [&](const tbb::blocked_range<std::int64_t> &range) {
            for (std::int64_t i = range.begin(); i != range.end(); ++i)
              runTile(i);
          },
          tbb::simple_partitioner());
    });
  }
  result.runSeconds = secondsSince(start);
  result.cancelled = cancelled();
  if (!result.cancelled)
    progress.finish();
  return result;
}

} // namespace nanobragg
