// What renders.
#ifndef NANOBRAGG_TARGET_DEVICECHOICE_H
#define NANOBRAGG_TARGET_DEVICECHOICE_H

#include "lib/Target/GpuVendor.h"

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// As --device says it: auto, cpu, gpu-on-cpu, gpu-on-cpu:64, or a GPU of one of gpuVendors():
/// cuda, cuda:N.
struct DeviceChoice {
  enum class Kind {
    Auto,     ///< a GPU where there is one, else the processor
    Cpu,      ///< the processor
    GpuOnCpu, ///< the processor with the program of a GPU
    Gpu       ///< a GPU of `vendor`
  };
  Kind kind = Kind::Auto;
  int number = 0;                    ///< the GPU's, in the order of its driver
  const GpuVendor *vendor = nullptr; ///< with Gpu; null otherwise
  int warp = usualWarp;              ///< threads that run in step in GpuOnCpu, 32 or 64

  /// Nothing when it is none of these.
  static std::optional<DeviceChoice> fromString(std::string_view text);
  /// The same; throws std::invalid_argument that says what would do.
  static DeviceChoice parse(std::string_view text);
  /// "'text' is no device; say auto, cpu, ..."
  static std::string refusal(std::string_view text);
  std::string toString() const;
  bool operator==(const DeviceChoice &) const = default;
};

} // namespace nanobragg
#endif
