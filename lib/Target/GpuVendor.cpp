#include "lib/Target/GpuVendor.h"

#include <charconv>

namespace nanobragg {
namespace {

/// The oldest version of PTX that knows the chip, lest old drivers refuse it.
std::string_view ptxVersion(std::string_view chip) {
  const int number = numberOfChip(chip);
  if (number == 88 || number == 110)
    return "+ptx90";
  if (number == 103 || number == 121 || chip.ends_with('f'))
    return "+ptx88";
  return number >= 100 ? "+ptx87" : chip == "sm_90a" ? "+ptx80" : "+ptx78";
}

std::string_view sameName(std::string_view chip) { return chip; }

/// SPIR-V is for all chips alike.
std::string_view generic(std::string_view) { return "generic"; }
std::string_view nothing(std::string_view) { return ""; }

int usual(std::string_view) { return usualWarp; }

/// AMD's gfx9 (MI200, MI300) and older chips have waves of 64 threads, gfx10 and later ones of 32.
int wave(std::string_view chip) { return chip.starts_with("gfx1") ? 32 : 64; }

constexpr GpuVendor table[] = {
    {.device = "cuda",
     .chipPrefix = "sm_",
     .language = GpuLanguage::PTX,
     .triple = "nvptx64-nvidia-cuda",
     .automatic = true,
     .warp = usual,
     .assembler = "ptxas",
     .assemblerVariable = "NB_PTXAS",
     .toolkitVariable = "CUDA_HOME",
     .toolkitFolder = "/usr/local/cuda/bin",
     .toolkitFound = NB_CUDA_BIN_DIR,
     .cpu = sameName,
     .features = ptxVersion},
    // An OpenCL loader opens every runtime that is installed, and some of those are of processors.
    {.device = "opencl",
     .chipPrefix = "spirv64",
     .language = GpuLanguage::SPIRV,
     .triple = "spirv64v1.4-unknown-unknown",
     .automatic = false,
     .warp = usual,
     .cpu = generic,
     .features = nothing},
    {.device = "hip",
     .chipPrefix = "gfx",
     .language = GpuLanguage::HSACO,
     .triple = "amdgcn-amd-amdhsa",
     .automatic = true,
     .warp = wave,
     .cpu = sameName,
     .features = nothing},
};

} // namespace

std::span<const GpuVendor> gpuVendors() { return table; }

const GpuVendor *vendorOfChip(std::string_view target) {
  for (const GpuVendor &vendor : table)
    if (target.starts_with(vendor.chipPrefix))
      return &vendor;
  return nullptr;
}

int numberOfChip(std::string_view chip) {
  const GpuVendor *vendor = vendorOfChip(chip);
  if (!vendor)
    return 0;
  chip.remove_prefix(vendor->chipPrefix.size());
  int number = 0;
  std::from_chars(chip.data(), chip.data() + chip.size(), number);
  return number;
}

} // namespace nanobragg
