#include "runtime/gpu/cuda/Module.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace nanobragg::cuda {
namespace {

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

bool fits(const nb_device_code &code, int capability) {
  const int made = capabilityOf(code.chip);
  if (made == 0 || made > capability)
    return false;
  return isCubin(code) ? made / 10 == capability / 10 : std::string_view(code.kind) == "ptx";
}

/// Is another code of the kernel worth trying?
bool isOfThisCode(Result result) {
  constexpr Result ofCode[] = {Result::InvalidImage, Result::NoBinaryForGpu, Result::InvalidPtx,
                               Result::JitCompilerNotFound, Result::UnsupportedPtxVersion};
  return std::ranges::find(ofCode, result) != std::end(ofCode);
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

/// "sm_90 (cubin), sm_80 (ptx)".
std::string listCodes(const nb_device_kernel &kernel) {
  std::string text;
  for (std::uint32_t i = 0; i != kernel.num_codes; ++i)
    text += (i ? ", " : "") + std::string(kernel.codes[i].chip) + " (" + kernel.codes[i].kind + ")";
  return text;
}

} // namespace

Module::Module(std::shared_ptr<const Device> on, KernelHandle handleOfKernel)
    : device(std::move(on)), kernel(std::move(handleOfKernel)) {
  const Device::Current current(*device);
  load();
  const nb_device_kernel &code = *kernel->device;
  const Driver &driver = device->driver();
  try {
    const auto find = [&](Function &function, const char *name) {
      driver.check(driver.function(&function, handle, name), "find the kernel in its own code");
    };
    find(entryFunction, code.entry);
    if (code.reduce)
      find(reduceFunction, code.reduce);
    driver.check(driver.residentBlocks(&blocks, entryFunction, int(code.threads), 0),
                 "say how many blocks it holds");
  } catch (...) {
    driver.unloadModule(handle);
    throw;
  }
}

Module::~Module() {
  device->withContext([&] { device->driver().unloadModule(handle); });
}

Result Module::tryCode(const nb_device_code &code) {
  if (isCubin(code))
    return device->driver().loadModule(&handle, code.bytes, 0, nullptr, nullptr);
  char log[1024] = "";
  JitOption options[] = {JitErrorLog, JitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  const Result result = device->driver().loadModule(&handle, code.bytes, 2, options, values);
  const std::string_view text(log, std::char_traits<char>::length(log));
  complaint = text.substr(0, text.find('\n'));
  return result;
}

void Module::load() {
  const Driver &driver = device->driver();
  const nb_device_kernel &codes = *kernel->device;
  std::string refused;
  for (std::uint32_t i = 0; i != codes.num_codes; ++i) {
    const nb_device_code &code = codes.codes[i];
    if (!fits(code, device->capability()))
      continue;
    const Result result = tryCode(code);
    if (result == Result::Success)
      return;
    if (!isOfThisCode(result))
      driver.check(result, "load the kernel");
    refused += (refused.empty() ? "" : "; ") + needOf(code) + ": " + driver.nameOf(result) +
               (complaint.empty() ? "" : ", " + complaint);
  }
  if (refused.empty())
    throw std::runtime_error("the kernel has code for " + listCodes(codes) + " and the GPU is " +
                             device->describe() +
                             "; make one with nb-compile --target=" + device->chip());
  throw std::runtime_error("the driver of the GPU supports CUDA " + versionText(driver.version) +
                           " and refuses the kernel (" + refused +
                           "); install a newer driver, or use --device=cpu");
}

} // namespace nanobragg::cuda
