// What is one GPU vendor's own, in one row.
//
// A second vendor is a row here, a folder beside runtime/gpu/cuda with an opener in
// runtime/gpu/Device.cpp, and the passes from nb-to-gpu's launch to its machine code in
// lib/Compiler/Pipelines. Everything else asks these rows.
#ifndef NANOBRAGG_TARGET_GPUVENDOR_H
#define NANOBRAGG_TARGET_GPUVENDOR_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nanobragg {

struct GpuVendor {
  std::string_view device;     ///< what --device calls its GPUs: "cuda", with ":N" for number N
  std::string_view chipPrefix; ///< how the names of its chips begin: "sm_"
  std::string_view triple;     ///< LLVM's, of code for its chips
  /// LLVM's target features for a chip of this name.
  std::string_view (*features)(std::string_view chip);
};

/// Threads that run in step on every chip that kernels are made for: NVIDIA's warp. Kernels, their
/// descriptors (KernelABI.h) and the host's twin are built on it.
inline constexpr std::int64_t threadsOfWarp = 32;

std::span<const GpuVendor> gpuVendors();

/// Whose chip `target` is, among the words that name targets; null: it is no chip of a GPU.
const GpuVendor *vendorOfChip(std::string_view target);

/// The number in a chip's name, 90 of "sm_90"; 0 where there is none.
int numberOfChip(std::string_view chip);

} // namespace nanobragg
#endif
