// Runs a kernel on a GPU.
#ifndef NANOBRAGG_RUNTIME_CUDA_RUNNER_H
#define NANOBRAGG_RUNTIME_CUDA_RUNNER_H

#include "runtime/gpu/LitBatches.h"
#include "runtime/gpu/RunPlan.h"
#include "runtime/gpu/Tiles.h"
#include "runtime/gpu/cuda/Memory.h"
#include "runtime/gpu/cuda/Module.h"
#include "runtime/gpu/cuda/ResidentData.h"

namespace nanobragg::cuda {

using gpu::ArgumentBlock;
using gpu::isLarge;
using gpu::LitBatch;
using gpu::LitBatches;
using gpu::Pace;
using gpu::RunPlan;
using gpu::valueBytes;

/// One kernel on one device, with a stream and with memory that it keeps from run to run. To be
/// used by one thread at a time.
class Runner : public gpu::Runner {
public:
  /// Loads the kernel. Throws std::runtime_error.
  Runner(KernelHandle kernel, std::shared_ptr<Device> device);
  ~Runner() override;
  Runner(const Runner &) = delete;

  RunResult run(const void *const *arguments, const ImageShape &shape, const RenderedRows &rows,
                void *const *outputs, const RunOptions &options) override;

private:
  struct Work;
  /// What the kernel reads at its own place, by the parameter's number.
  struct Large {
    ResidentData resident; ///< of grids and masks
    Memory memory;         ///< of images, which are new in every run
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
  void launch(Function function, std::int64_t blocks, std::int64_t threads, void **parameters);
  std::size_t held() const;
  void release();

  std::shared_ptr<Device> device;
  KernelHandle kernel;
  std::shared_ptr<const Module> module;
  Stream stream = nullptr;
  Pace pace;
  std::vector<Large> large;
  std::vector<Memory> images; ///< by the output's number
  Memory block, accumulators, lists;
};

} // namespace nanobragg::cuda
#endif
