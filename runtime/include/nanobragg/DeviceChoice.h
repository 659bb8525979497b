// The device that renders.
#ifndef NANOBRAGG_DEVICECHOICE_H
#define NANOBRAGG_DEVICECHOICE_H

#include "nanobragg/Engine.h"

#include <optional>
#include <string>
#include <string_view>

namespace nanobragg {

struct GpuVendor;

/// The default number of threads of a GPU that run in step.
inline constexpr int usualWarp = 32;

/// A value of --device: auto, cpu, gpu-on-cpu, gpu-on-cpu:64, a GPU of one of gpuVendors() (cuda,
/// cuda:N), or several (cuda:all, and all, of the first vendor that has one).
struct NB_CPP_API DeviceChoice {
  enum class Kind {
    Auto,     ///< a GPU where there is one, else the processor
    Cpu,      ///< the processor
    GpuOnCpu, ///< the processor with the program of a GPU
    Gpu       ///< a GPU of `vendor`, or several
  };
  static constexpr int every = -1; ///< as the number: all GPUs that are like the first
  Kind kind = Kind::Auto;
  int number = 0;                    ///< the GPU's, in the order of its driver
  const GpuVendor *vendor = nullptr; ///< only with Gpu; null for "all"
  int warp = usualWarp;              ///< threads that run in step in GpuOnCpu, 32 or 64

  constexpr DeviceChoice() = default;
  constexpr DeviceChoice(Kind kind, int number = 0, const GpuVendor *vendor = nullptr,
                         int warp = usualWarp)
      : kind(kind), number(number), vendor(vendor), warp(warp) {}
  /// From one of these words; empty: auto. Throws std::invalid_argument, which lists them.
  DeviceChoice(const std::string &text);
  DeviceChoice(const char *text) : DeviceChoice(std::string(text)) {}

  /// Empty if it is none of these.
  static std::optional<DeviceChoice> fromString(std::string_view text);
  /// "auto, cpu, gpu-on-cpu, gpu-on-cpu:64, all, cuda, cuda:N, cuda:all, ...": for help texts.
  static std::string words();
  /// "'text' is not a device; use one of auto, cpu, ..."
  static std::string refusal(std::string_view text);
  std::string toString() const;
  bool operator==(const DeviceChoice &) const = default;
};

} // namespace nanobragg
#endif
