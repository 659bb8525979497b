// Runs a compiled kernel over an image.
//
// Binds a kernel's parameters to an experiment, prepares its workspace and spreads rows x panels
// over threads. A pixel's value is computed by one call of the kernel from read-only inputs, and sums
// over pixels are taken over parts of the image that depend on its size only, so all results are
// bitwise the same for any number of threads and any tile size.
#ifndef NANOBRAGG_KERNELRUNNER_H
#define NANOBRAGG_KERNELRUNNER_H

#include "lib/Experiment/BoundParameters.h"
#include "lib/Experiment/Experiment.h"
#include "nanobragg/KernelABI.h"
#include "runtime/processor/Cancellation.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// A kernel's descriptor together with whatever keeps its code mapped.
using KernelHandle = std::shared_ptr<const nb_kernel_descriptor>;

/// An image is a dense array [panel][slow][fast].
struct ImageShape {
  std::int64_t panels = 0, slow = 0, fast = 0;
  std::int64_t pixels() const { return productOf({panels, slow, fast}, "an image"); }
};

struct RunOptions {
  int threads = 0;              ///< 0: as many as the machine offers
  std::int64_t rowsPerTile = 0; ///< 0: chosen for balance; sums over pixels have their own
  /// Called with the finished fraction of the image, never decreasing, one call at a time, from
  /// whichever thread finished a tile; the last call of a completed run is 1.
  std::function<void(double fraction)> progress{};
  double progressInterval = 0.1; ///< s, least time between two calls (the last one excepted)
  /// Tiles (with sums, parts of the image) not yet begun when it is requested are left alone.
  const CancellationToken *cancel = nullptr;
};

struct RunResult {
  bool cancelled = false; ///< the image is incomplete
  double prepareSeconds = 0;
  double firstTileSeconds = 0; ///< from the call to the first tile: tables and threads
  double runSeconds = 0; ///< wall clock, all tiles
  int threads = 1;       ///< used
  std::int64_t workspaceBytes = 0;
  std::int64_t accumulatorBytes = 0; ///< of sums over pixels, for all parts and threads
  // Of a run on a GPU.
  std::string device{};              ///< its name; empty: the processor
  std::int64_t deviceBytes = 0;      ///< of its memory, kept for the next run
  std::int64_t uploadedBytes = 0;    ///< copied there in this run
  std::int64_t launches = 0;         ///< of the kernel
  double deviceSeconds = 0;          ///< wall clock of the launches, without copies
};

/// Throws std::runtime_error unless the descriptor speaks this ABI and is complete.
void checkDescriptor(const nb_kernel_descriptor &kernel);

/// More threads than any machine has processors; each costs memory.
constexpr int mostThreads = 4096;

/// How many threads a run with `requested` uses: the machine's when it is 0, fewer where the system does
/// not let so many start. Throws
/// std::invalid_argument when it is more than mostThreads.
int resolveThreads(int requested);

/// Rows of each panel that are not merely cleared.
struct RenderedRows {
  std::int64_t begin = 0, end = 0;
};

/// Prepares the workspace, runs all tiles and finishes. Everything that `arguments` and `outputs`
/// reach is as the kernel wants it. After a cancelled run only rows of images have been written.
RunResult runKernel(const nb_kernel_descriptor &kernel, const void *const *arguments,
                    const ImageShape &shape, const RenderedRows &rows, void *const *outputs,
                    const RunOptions &options);

namespace cuda {
class Device;
class Runner;
} // namespace cuda

/// Runs a kernel again and again, wherever it belongs: on the processor, or on a GPU, in whose
/// memory it keeps what the next run will need too. To be used by one thread at a time.
class KernelExecutor {
public:
  /// A kernel of a GPU runs on `device`, or if that is null on the first one. Throws
  /// std::runtime_error when there is none or it cannot run the kernel.
  explicit KernelExecutor(KernelHandle kernel, std::shared_ptr<cuda::Device> device = nullptr);
  ~KernelExecutor();
  KernelExecutor(KernelExecutor &&) noexcept;

  /// As runKernel.
  RunResult run(const void *const *arguments, const ImageShape &shape, const RenderedRows &rows,
                void *const *outputs, const RunOptions &options);

private:
  KernelHandle kernel;
  std::unique_ptr<cuda::Runner> gpu; ///< null: the processor
};

/// The numbers in each of the kernel's outputs, in its order.
std::vector<std::int64_t> outputSizes(const nb_kernel_descriptor &kernel,
                                      const void *const *arguments, const ImageShape &shape);

/// Memory for the outputs of a kernel: of the caller where it was given, else its own.
class OutputMemory {
public:
  explicit OutputMemory(const nb_kernel_descriptor &kernel) : kernel(kernel) {}

  /// Room for outputs of these sizes. The first image goes to `image` unless that is null.
  void resize(std::span<const std::int64_t> sizes, void *image);
  void *const *addresses() const { return places.data(); }

  /// Results of the last run, valid until the next; throws std::invalid_argument when there is no
  /// such output, it went to memory of the caller, or it is an image of the other type.
  std::span<const double> numbers(std::string_view name) const;
  std::span<const float> floats(std::string_view name) const;
  /// Is it an image of floats?
  bool isFloat(std::string_view name) const;

private:
  std::size_t find(std::string_view name, nb_image_type wanted) const;

  const nb_kernel_descriptor &kernel;
  std::vector<std::vector<double>> own; ///< one per output; floats take half of the room
  std::vector<std::int64_t> count;
  std::vector<void *> places;
};

/// One kernel bound to one experiment. The experiment must outlive it; numbers changed in it are
/// seen by the next run, and so one runner serves a parameter scan.
class KernelRunner {
public:
  /// Throws std::runtime_error for a kernel of another ABI version, std::invalid_argument naming a
  /// parameter that the experiment does not provide. `device` is as of KernelExecutor.
  KernelRunner(KernelHandle kernel, const Experiment &experiment,
               std::shared_ptr<cuda::Device> device = nullptr);

  ImageShape shape() const;
  const nb_kernel_descriptor &descriptor() const { return *kernel; }

  /// A parameter that experiments do not have: the image cotangent of a gradient kernel (panels x
  /// slow x fast doubles), the tangents of a forward one (as many doubles as the parameter has).
  /// The numbers are read when the kernel runs; they stay the caller's. Throws
  /// std::invalid_argument when there is no such parameter or the count is not what it has.
  void bind(std::string_view parameter, std::span<const double> numbers);

  /// Photons per pixel into `image`, which the caller owns and which has shape().pixels() elements
  /// of the kernel's image type; throws std::invalid_argument otherwise and std::bad_alloc when the
  /// workspace does not fit in memory. Other outputs of the kernel stay in the runner. Exceptions
  /// of the progress callback end the run and are passed on.
  RunResult run(std::span<float> image, const RunOptions &options = {});
  RunResult run(std::span<double> image, const RunOptions &options = {});
  /// The same with all outputs in the runner.
  RunResult run(const RunOptions &options = {});

  /// An output of the last run by name, e.g. "gradient.cell_a", in the layout of its kind; valid
  /// until the next run. Throws std::invalid_argument when there is none, when it is an image that
  /// went to memory of the caller, or an image of the other type.
  std::span<const double> output(std::string_view name) const { return memory.numbers(name); }
  std::span<const float> imageF32(std::string_view name) const { return memory.floats(name); }

private:
  RunResult run(void *image, std::int64_t pixels, nb_image_type type, const RunOptions &options);
  RunResult runInto(void *image, const RunOptions &options);

  KernelHandle kernel;
  const Experiment &experiment;
  BoundParameters parameters;
  OutputMemory memory;
  KernelExecutor executor;
};

} // namespace nanobragg
#endif
