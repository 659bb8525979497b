// Runs a kernel on one GPU.
#ifndef NANOBRAGG_RUNTIME_GPU_RUNNER_H
#define NANOBRAGG_RUNTIME_GPU_RUNNER_H

#include "runtime/gpu/Deal.h"
#include "runtime/gpu/Memory.h"
#include "runtime/gpu/ResidentData.h"
#include "runtime/gpu/RunPlan.h"
#include "runtime/processor/Stopwatch.h"

namespace nanobragg::gpu {

/// One kernel on one device, with a queue and with memory that it keeps from run to run. To be
/// used by one thread at a time.
class Runner {
public:
  /// Loads the kernel, which keeps the device open. Throws std::runtime_error.
  Runner(KernelHandle kernel, std::shared_ptr<Device> device);
  Runner(const Runner &) = delete;

  Device &where() const { return *device; }
  std::int64_t residentBlocks() const { return module->residentBlocks(); }

  /// One that several devices may share.
  struct Run {
    const RunPlan &plan;
    const void *const *arguments;
    void *const *outputs;
    const RunOptions &options;
    Stopwatch sinceCall;
    std::size_t devices; ///< at work
  };
  /// Renders portions until there are no more: their rows of images, and their sums, go to the
  /// host. Throws std::runtime_error; release() is then due.
  RunResult run(const Run &run, Deal &deal);
  /// Frees all memory that it has on the device.
  void release();

private:
  struct Work;
  /// Arguments that the kernel reads at their own place, by the parameter's number.
  struct Large {
    ResidentData resident; ///< grids and masks
    Memory memory;         ///< images, which are new in every run
  };

  void allocate(Work &work);
  void upload(Work &work);
  void render(Work &work, Deal &deal);
  void launchTile(Work &work, Deal &deal, std::size_t number);
  void launchLit(Work &work, Deal &deal, std::size_t number);
  void download(Work &work);
  void launch(const RunPlan &plan, std::int64_t blocks, Address tile);
  void reduce(const RunPlan &plan);
  template <typename Visit>
  void forEachMemory(Visit visit) const;
  std::vector<Address> addresses() const;
  std::size_t held() const;

  std::shared_ptr<Device> device;
  KernelHandle kernel;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Queue> queue;
  Pace pace;
  std::vector<Large> large;
  std::vector<Memory> images; ///< by the output's number
  Memory block, accumulators, lists;
  std::vector<Address> given; ///< addresses that a run's options gave
};

} // namespace nanobragg::gpu
#endif
