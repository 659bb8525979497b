// What renders.
#ifndef NANOBRAGG_EXPERIMENT_DEVICECHOICE_H
#define NANOBRAGG_EXPERIMENT_DEVICECHOICE_H

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

/// As --device says it: auto, cpu, gpu-on-cpu, cuda, cuda:N.
struct DeviceChoice {
  enum class Kind {
    Auto,     ///< a GPU where there is one, else the processor
    Cpu,      ///< the processor
    GpuOnCpu, ///< the processor with the program of a GPU
    Cuda      ///< an NVIDIA GPU
  };
  Kind kind = Kind::Auto;
  int number = 0; ///< of the GPU, in the order of the CUDA driver

  /// Nothing when it is none of these.
  static std::optional<DeviceChoice> fromString(std::string_view text);
  std::string toString() const;
  bool operator==(const DeviceChoice &) const = default;
};

} // namespace nanobragg
#endif
