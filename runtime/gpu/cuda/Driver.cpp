#include "runtime/gpu/cuda/Driver.h"

#include <dlfcn.h>

namespace nanobragg::cuda {
namespace {

constexpr const char *remedy = "; use --device=cpu, or a machine with an NVIDIA GPU and its driver";

/// Stays open: drivers do not survive dlclose.
Driver load() {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    throw NoGpu(std::string("there is no CUDA driver (") + (reason ? reason : "libcuda.so.1") +
                ")" + remedy);
  }
  Driver driver;
  const auto find = [&](auto &function, const char *symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (!function)
      throw NoGpu(std::string("the CUDA driver is too old: it has no ") + symbol +
                  "; install one for CUDA 11 or newer, or use --device=cpu");
  };
#define NB_FIND(name, symbol, parameters) find(driver.name, #symbol);
  NB_CUDA_FUNCTIONS(NB_FIND)
#undef NB_FIND
  const Result result = driver.init(0);
  if (result == Result::NoDevice)
    throw NoGpu(std::string("the CUDA driver finds no GPU") + remedy);
  if (result != Result::Success)
    throw NoGpu("the CUDA driver does not start (" + driver.nameOf(result) + ")" + remedy);
  driver.check(driver.driverVersion(&driver.version), "ask for the version of the driver");
  return driver;
}

} // namespace

const Driver &Driver::open() {
  static const Driver driver = load();
  return driver;
}

std::string Driver::nameOf(Result result) const {
  const char *name = nullptr;
  if (errorName(result, &name) == Result::Success && name)
    return name;
  return "CUDA error " + std::to_string(int(result));
}

void Driver::check(Result result, const char *what) const {
  if (result != Result::Success)
    throw std::runtime_error(std::string("the GPU could not ") + what + ": " + nameOf(result));
}

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace nanobragg::cuda
