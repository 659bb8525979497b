//===- KernelRunner.h - runs a compiled kernel over an image ----*- C++ -*-===//
//
// Binds a kernel's parameters to an experiment, prepares its workspace and spreads rows x panels
// over threads. A pixel's value is computed by one call of the kernel from read-only inputs, so the
// image is bitwise the same for any number of threads and any tile size.
//
//===----------------------------------------------------------------------===//
#ifndef NANOBRAGG_KERNELRUNNER_H
#define NANOBRAGG_KERNELRUNNER_H

#include "Experiment.h"
#include "Parameters.h"
#include "nanobragg/Cancellation.h"
#include "nanobragg/KernelABI.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace nanobragg {

/// A kernel's descriptor together with whatever keeps its code mapped.
using KernelHandle = std::shared_ptr<const nb_kernel_descriptor>;

/// An image is a dense array [panel][slow][fast].
struct ImageShape {
  std::int64_t panels = 0, slow = 0, fast = 0;
  std::int64_t pixels() const { return panels * slow * fast; }
};

struct RunOptions {
  int threads = 0;              ///< 0: as many as the machine offers
  std::int64_t rowsPerTile = 0; ///< 0: chosen for balance
  /// Called with the finished fraction of the image, never decreasing, one call at a time, from
  /// whichever thread finished a tile; the last call of a completed run is 1.
  std::function<void(double fraction)> progress{};
  double progressInterval = 0.1; ///< s, least time between two calls (the last one excepted)
  /// Tiles not yet begun when it is requested are left alone.
  const CancellationToken *cancel = nullptr;
};

struct RunResult {
  bool cancelled = false; ///< the image is incomplete
  double prepareSeconds = 0;
  double firstTileSeconds = 0; ///< from the call to the first tile: tables and threads
  double runSeconds = 0; ///< wall clock, all tiles
  int threads = 1;       ///< used
  std::int64_t workspaceBytes = 0;
};

/// Throws std::runtime_error unless the descriptor speaks this ABI and is complete.
void checkDescriptor(const nb_kernel_descriptor &kernel);

/// How many threads a run with `requested` uses: the machine's when it is 0.
int resolveThreads(int requested);

/// Rows of each panel that are not merely cleared.
struct RenderedRows {
  std::int64_t begin = 0, end = 0;
};

/// Prepares the workspace and runs all tiles. Everything that `arguments` reaches, and `image`, is
/// as the kernel wants it.
RunResult runKernel(const nb_kernel_descriptor &kernel, const void *const *arguments,
                    const ImageShape &shape, const RenderedRows &rows, void *image,
                    const RunOptions &options);

/// One kernel bound to one experiment. The experiment must outlive it; numbers changed in it are
/// seen by the next run, and so one runner serves a parameter scan.
class KernelRunner {
public:
  /// Throws std::runtime_error for a kernel of another ABI version, std::invalid_argument naming a
  /// parameter that the experiment does not provide.
  KernelRunner(KernelHandle kernel, const Experiment &experiment);

  ImageShape shape() const;

  /// Photons per pixel into `image`, which the caller owns and which has shape().pixels() elements
  /// of the kernel's image type; throws std::invalid_argument otherwise and std::bad_alloc when the
  /// workspace does not fit in memory. Exceptions of the progress callback end the run and are
  /// passed on.
  RunResult run(std::span<float> image, const RunOptions &options = {});
  RunResult run(std::span<double> image, const RunOptions &options = {});

private:
  RunResult run(void *image, std::int64_t pixels, nb_image_type type, const RunOptions &options);

  KernelHandle kernel;
  const Experiment &experiment;
  BoundParameters parameters;
};

} // namespace nanobragg
#endif
