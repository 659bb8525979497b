// A program and what runs it.
#ifndef NANOBRAGG_SIMULATOR_PROGRAM_H
#define NANOBRAGG_SIMULATOR_PROGRAM_H

#include "runtime/gpu/KernelExecutor.h"
#include "runtime/kernels/CompilerLibrary.h"
#include "runtime/processor/KernelRunner.h"

#include <optional>

namespace nanobragg {

/// A program on one engine: its kernel, on the processor or on a GPU, or the interpreter. To be
/// used by one thread at a time.
class Program {
public:
  /// A kernel of a GPU runs on `devices`, see KernelExecutor.
  explicit Program(KernelHandle kernel, gpu::Devices devices = {});
  /// `json` is of the report of probes that the program was prepared with.
  explicit Program(std::shared_ptr<const PreparedProgram> interpreted, Instruments look = {});

  bool interpreted() const { return !executor; }
  /// Parameters and outputs; with a kernel also its functions.
  const nb_kernel_descriptor &descriptor() const;
  KernelHandle kernel() const { return handle; }
  bool isOnGpu() const { return executor && executor->isOnGpu(); }

  /// As runKernel.
  RunResult run(const void *const *arguments, const ImageShape &shape, const RenderedRows &rows,
                void *const *outputs, const RunOptions &options);

  /// How one pixel comes about, as lines `TRACE key value`; of an interpreted program.
  std::string trace(const void *const *arguments, const PixelIndex &pixel) const;

private:
  KernelHandle handle;
  std::optional<KernelExecutor> executor; ///< runs the kernel
  std::shared_ptr<const PreparedProgram> prepared;
  Instruments look;
};

} // namespace nanobragg
#endif
