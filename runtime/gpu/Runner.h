// Runs a kernel on a GPU.
#ifndef NANOBRAGG_RUNTIME_GPU_RUNNER_H
#define NANOBRAGG_RUNTIME_GPU_RUNNER_H

#include "runtime/gpu/LitBatches.h"
#include "runtime/gpu/Memory.h"
#include "runtime/gpu/ResidentData.h"
#include "runtime/gpu/RunPlan.h"
#include "runtime/gpu/Tiles.h"

namespace nanobragg::gpu {

/// One kernel on one device, with a queue and with memory that it keeps from run to run. To be
/// used by one thread at a time.
class Runner {
public:
  /// Loads the kernel, which keeps the device open. Throws std::runtime_error.
  Runner(KernelHandle kernel, std::shared_ptr<Device> device);
  Runner(const Runner &) = delete;

  /// As runKernel of a kernel of the processor. Throws std::runtime_error; then all memory that the
  /// runner had on the device is free again.
  RunResult run(const void *const *arguments, const ImageShape &shape, const RenderedRows &rows,
                void *const *outputs, const RunOptions &options);

private:
  struct Work;
  /// What the kernel reads at its own place, by the parameter's number.
  struct Large {
    ResidentData resident; ///< grids and masks
    Memory memory;         ///< images, which are new in every run
  };

  void runOnce(Work &work, const void *const *arguments, const RenderedRows &rows,
               void *const *outputs, const RunOptions &options);
  void allocate(Work &work, const void *const *arguments);
  void upload(Work &work, const void *const *arguments);
  bool launchTiles(Work &work, const RenderedRows &rows, const RunOptions &options);
  bool launchLit(Work &work, const void *const *arguments, const RenderedRows &rows,
                 const RunOptions &options);
  void launch(const RunPlan &plan, std::int64_t blocks, Address tile);
  void reduce(const Work &work);
  template <typename Visit>
  void forEachMemory(Visit visit) const;
  std::vector<Address> addresses() const;
  std::size_t held() const;
  void release();

  std::shared_ptr<Device> device;
  KernelHandle kernel;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Queue> queue;
  Pace pace;
  std::vector<Large> large;
  std::vector<Memory> images; ///< by the output's number
  Memory block, accumulators, lists;
};

} // namespace nanobragg::gpu
#endif
