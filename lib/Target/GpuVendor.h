// The differences between GPU vendors, one row for each.
//
// One more vendor is a row here, a folder beside runtime/gpu/cuda with an opener in
// runtime/gpu/Device.cpp, and the passes from nb-to-gpu's launch to its machine code in
// lib/Compiler/Pipelines. Everything else asks these rows.
#ifndef NANOBRAGG_TARGET_GPUVENDOR_H
#define NANOBRAGG_TARGET_GPUVENDOR_H

#include "nanobragg/DeviceChoice.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nanobragg {

/// The language that LLVM translates a program for a GPU to.
enum class GpuLanguage {
  PTX,   ///< NVIDIA's assembly, through the NVVM dialect
  SPIRV, ///< SPIR-V for OpenCL, in binary form
  HSACO  ///< AMD's machine code in a shared object, through the ROCDL dialect
};

struct GpuVendor {
  std::string_view device;     ///< the name of its GPUs for --device: "cuda", "cuda:N" for number N
  std::string_view chipPrefix; ///< how the names of its chips begin: "sm_"
  GpuLanguage language;
  std::string_view triple; ///< LLVM's, of code for its chips
  /// Does --device=auto look for one? Where that costs little.
  bool automatic;
  int (*warp)(std::string_view chip); ///< threads that run in step: NVIDIA's warps, AMD's waves
  /// The program that makes machine code of text, "ptxas"; empty: there is none.
  std::string_view assembler{};
  std::string_view assemblerVariable{}; ///< environment variable that names it: "NB_PTXAS"
  /// Where its toolkit is: as a variable of the environment says, as usual, as CMake found it.
  std::string_view toolkitVariable{}, toolkitFolder{}, toolkitFound{};
  /// LLVM's name of the chip, and its target features.
  std::string_view (*cpu)(std::string_view chip);
  std::string_view (*features)(std::string_view chip);
};

std::span<const GpuVendor> gpuVendors();

/// Whose chip `target` is, among the words that name targets; null: it is not a chip of a GPU.
const GpuVendor *vendorOfChip(std::string_view target);

/// The number that a chip's name has after its vendor's prefix, 90 of "sm_90" and of "gfx90a"; 0
/// where there is none.
int numberOfChip(std::string_view chip);

} // namespace nanobragg
#endif
