// The device that renders.
#ifndef NANOBRAGG_TARGET_DEVICECHOICE_H
#define NANOBRAGG_TARGET_DEVICECHOICE_H

#include "lib/Target/GpuVendor.h"

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// As --device says it: auto, cpu, gpu-on-cpu, gpu-on-cpu:64, a GPU of one of gpuVendors() (cuda,
/// cuda:N), or several (cuda:all, and all, of the first vendor that has one).
struct DeviceChoice {
  enum class Kind {
    Auto,     ///< a GPU where there is one, else the processor
    Cpu,      ///< the processor
    GpuOnCpu, ///< the processor with the program of a GPU
    Gpu       ///< a GPU of `vendor`, or several
  };
  static constexpr int every = -1; ///< as the number: all GPUs that are like the first
  Kind kind = Kind::Auto;
  int number = 0;                    ///< the GPU's, in the order of its driver
  const GpuVendor *vendor = nullptr; ///< with Gpu; null of "all", and otherwise
  int warp = usualWarp;              ///< threads that run in step in GpuOnCpu, 32 or 64

  /// Nothing when it is none of these.
  static std::optional<DeviceChoice> fromString(std::string_view text);
  /// The same; throws std::invalid_argument that says what would do.
  static DeviceChoice parse(std::string_view text);
  /// "auto, cpu, gpu-on-cpu, gpu-on-cpu:64, all, cuda, cuda:N, cuda:all, ...": for texts of help.
  static std::string words();
  /// "'text' is no device; say auto, cpu, ..."
  static std::string refusal(std::string_view text);
  std::string toString() const;
  bool operator==(const DeviceChoice &) const = default;
};

} // namespace nanobragg
#endif
