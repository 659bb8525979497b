// One kernel with the memory that it needs.
#ifndef NB_COMPILER_KERNELRUN_H
#define NB_COMPILER_KERNELRUN_H

#include "nanobragg/KernelABI.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace mlir::nb {

/// A kernel bound to its arguments, run by one thread with one accumulator. The steps in their
/// order: prepare(), render(), finish(), results().
class KernelRun {
public:
  /// `shape` is that of its images; the arguments stay the caller's.
  KernelRun(const nb_kernel_descriptor &kernel, std::vector<const void *> arguments,
            std::array<int64_t, 3> shape);

  void prepare();
  /// All pixels. May be repeated for images alone: sums over pixels are added to.
  void render() { render(0, shape[1]); }
  /// Rows from `begin` to before `end` of every panel.
  void render(int64_t begin, int64_t end);
  void finish();
  /// The outputs, in the kernel's order, images of floats as doubles too.
  std::vector<std::vector<double>> results() const;

private:
  void renderAll(nb_tile &tile, const std::function<void()> &run);
  struct Release {
    void operator()(void *memory) const;
  };
  using Memory = std::unique_ptr<void, Release>;
  static Memory allocate(int64_t bytes);

  const nb_kernel_descriptor &kernel;
  std::vector<const void *> arguments;
  std::array<int64_t, 3> shape;
  std::vector<int64_t> sizes;
  std::vector<std::vector<double>> outputs;
  std::vector<void *> places;
  Memory workspace, accumulator, scratch;
};

} // namespace mlir::nb

#endif
