// Which code of a kernel NVIDIA's chips and drivers take.
#include "runtime/gpu/cuda/Driver.h"

#include <charconv>
#include <cstdio>

namespace nanobragg::cuda {
namespace {

/// 13.0 for 13000.
std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Compute capability 9.0 is sm_90.
std::string chipOf(const Driver &driver, Ordinal device) {
  int major = 0, minor = 0;
  driver.check(driver.deviceAttribute(&major, ComputeCapabilityMajor, device), "say what it is");
  driver.check(driver.deviceAttribute(&minor, ComputeCapabilityMinor, device), "say what it is");
  return "sm_" + std::to_string(10 * major + minor);
}

/// 90 for "sm_90"; nothing for chips whose code runs on them alone ("sm_90a").
int capabilityOf(std::string_view chip) {
  constexpr std::string_view prefix = "sm_";
  if (!chip.starts_with(prefix))
    return 0;
  chip.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(chip.data(), chip.data() + chip.size(), number);
  return error == std::errc() && end == chip.data() + chip.size() ? number : 0;
}

bool isCubin(const nb_device_code &code) { return std::string_view(code.kind) == "cubin"; }

/// Cubin for its major version and no later minor one, PTX for no later version.
bool fits(const nb_device_code &code, std::string_view chip) {
  const int made = capabilityOf(code.chip), capability = capabilityOf(chip);
  if (made == 0 || made > capability)
    return false;
  return isCubin(code) ? made / 10 == capability / 10 : std::string_view(code.kind) == "ptx";
}

/// The first CUDA whose driver compiles this version of PTX, 12080 for 8.7.
int cudaOfPtx(std::string_view version) {
  int major = 0, minor = 0;
  std::sscanf(std::string(version).c_str(), "%d.%d", &major, &minor);
  // CUDA 12.5 brought PTX 8.5, CUDA 12.6 none, CUDA 12.7 PTX 8.6.
  if (major == 8)
    return 12000 + 10 * (minor <= 5 ? minor : minor + 1);
  return 1000 * (major + 4) + 10 * minor;
}

std::string needOf(const nb_device_code &code) {
  if (isCubin(code))
    return std::string("cubin for ") + code.chip + " made by CUDA " + code.version;
  return std::string("PTX ") + code.version + ", which needs CUDA " +
         versionText(cudaOfPtx(code.version));
}

} // namespace

const Make cudaMake = {
    .name = "CUDA",
    .device = "cuda",
    .dlpack = 2,
    .hiddenBy = "CUDA_VISIBLE_DEVICES",
    .remedy = "; use --device=cpu, or a machine with an NVIDIA GPU and its driver",
    .multiprocessorCount = MultiprocessorCount,
    .chip = chipOf,
    .fits = fits,
    .needOf = needOf,
    .version = versionText,
};

} // namespace nanobragg::cuda
