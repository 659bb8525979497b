// The machine that a kernel's code is made for.
#ifndef NANOBRAGG_TARGET_KERNELTARGET_H
#define NANOBRAGG_TARGET_KERNELTARGET_H

#include "lib/Target/GpuVendor.h"

#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

struct KernelTarget {
  enum class Kind {
    Native,    ///< the processor at hand
    GpuOnCpu,  ///< the same with the program of a GPU: its grid as loops
    HostOfGpu, ///< the host's part of a GPU's kernel, for any processor
    Processor, ///< the one of LLVM's that `name` names, "aarch64" and "aarch64-CPU" of 64-bit Arm
    Chip       ///< a GPU's, as one of gpuVendors() calls it: "sm_90"
  };
  Kind kind = Kind::Native;
  std::string name{};   ///< name of the Processor or Chip
  int warp = usualWarp; ///< threads that run in step in GpuOnCpu

  /// Threads that run in step, of a GPU's program.
  int threadsOfWarp() const { return vendor() ? vendor()->warp(name) : warp; }

  bool isHere() const { return kind == Kind::Native || kind == Kind::GpuOnCpu; }
  const GpuVendor *vendor() const { return kind == Kind::Chip ? vendorOfChip(name) : nullptr; }

  /// "native", "gpu-on-cpu", "gpu-on-cpu:64", "host-of-gpu", or a name.
  static KernelTarget fromString(std::string_view text);
  /// Several, with commas between.
  static std::vector<KernelTarget> listFromString(std::string_view text);
  std::string toString() const;
  bool operator==(const KernelTarget &) const = default;
};

} // namespace nanobragg
#endif
