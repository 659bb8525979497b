#include "runtime/gpu/Assembler.h"

#include "lib/Target/GpuVendor.h"
#include "runtime/gpu/cuda/Ptxas.h"

namespace nanobragg::gpu {
namespace {

/// One per vendor, by what --device calls its GPUs.
struct Finder {
  std::string_view device;
  std::string (*find)();
};
constexpr Finder finders[] = {{"cuda", cuda::findPtxas}};

} // namespace

std::string findAssembler(std::string_view chip) {
  const GpuVendor *vendor = vendorOfChip(chip);
  for (const Finder &finder : finders)
    if (vendor && finder.device == vendor->device)
      return finder.find();
  return "";
}

} // namespace nanobragg::gpu
