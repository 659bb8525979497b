#include "runtime/gpu/cuda/Module.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace nanobragg::cuda {
namespace {

/// Is another code of the kernel worth trying?
bool isOfThisCode(Result result) {
  constexpr Result ofCode[] = {Result::InvalidImage, Result::NoBinaryForGpu, Result::InvalidPtx,
                               Result::JitCompilerNotFound, Result::UnsupportedPtxVersion};
  return std::ranges::find(ofCode, result) != std::end(ofCode);
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
  if (std::string_view(code.kind) != "ptx")
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
    if (!driver.make->fits(code, device->chip()))
      continue;
    const Result result = tryCode(code);
    if (result == Result::Success)
      return;
    if (!isOfThisCode(result))
      driver.check(result, "load the kernel");
    refused += (refused.empty() ? "" : "; ") + driver.make->needOf(code) + ": " +
               driver.nameOf(result) + (complaint.empty() ? "" : ", " + complaint);
  }
  if (refused.empty())
    throw std::runtime_error("the kernel has code for " + listCodes(codes) + " and the GPU is " +
                             device->describe() +
                             "; make one with nb-compile --target=" + device->chip());
  throw std::runtime_error(std::string("the driver of the GPU supports ") + driver.make->name +
                           " " + driver.make->version(driver.version) +
                           " and refuses the kernel (" + refused +
                           "); install a newer driver, or use --device=cpu");
}

} // namespace nanobragg::cuda
