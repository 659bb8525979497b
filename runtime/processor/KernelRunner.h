// Runs a compiled kernel over an image.
//
// Prepares a kernel's workspace and spreads rows x panels over threads. A pixel's value is computed
// by one call of the kernel from read-only inputs, and sums over pixels are taken over parts of the
// image that depend on its size only, so all results are bitwise the same for any number of threads
// and any tile size.
#ifndef NANOBRAGG_KERNELRUNNER_H
#define NANOBRAGG_KERNELRUNNER_H

#include "lib/Experiment/Experiment.h"
#include "lib/Parallel/MostThreads.h"
#include "lib/Program/BoundParameters.h"
#include "nanobragg/KernelABI.h"
#include "nanobragg/Run.h"

#include <cstdint>
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

/// Throws std::runtime_error unless the descriptor speaks this ABI and is complete.
void checkDescriptor(const nb_kernel_descriptor &kernel);

/// How many threads a run with `requested` asks for: one for each processor when it is 0. Throws
/// std::invalid_argument when it is more than mostThreads.
int resolveThreads(int requested);

/// Rows of each panel that are not merely cleared.
struct RenderedRows {
  std::int64_t begin = 0, end = 0;
};

/// Prepares the workspace, runs all tiles and finishes. Everything that `arguments` and `outputs`
/// reach is as KernelABI.h says. After a cancelled run only rows of images have been written.
RunResult runKernel(const nb_kernel_descriptor &kernel, const void *const *arguments,
                    const ImageShape &shape, const RenderedRows &rows, void *const *outputs,
                    const RunOptions &options);

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

} // namespace nanobragg
#endif
