#include "runtime/gpu/cuda/Driver.h"

#include "runtime/gpu/DriverLibrary.h"

namespace nanobragg::cuda {
namespace {

Driver load() {
  const gpu::DriverLibrary library({"libcuda.so.1"}, "CUDA driver", cudaMake.remedy);
  Driver driver;
  driver.make = &cudaMake;
  const auto find = [&](auto &function, const char *symbol) {
    library.find(function, symbol, "the CUDA driver",
                 "; install one for CUDA 11 or newer, or use --device=cpu");
  };
#define NB_FIND(name, symbol, parameters) find(driver.name, #symbol);
  NB_CUDA_FUNCTIONS(NB_FIND)
#undef NB_FIND
  driver.start();
  return driver;
}

} // namespace

const Driver &Driver::open() {
  static const Driver driver = load();
  return driver;
}

void Driver::start() {
  const Result result = init(0);
  if (result == Result::NoDevice)
    throw NoGpu(std::string("the ") + make->name + " driver finds no GPU" + make->remedy);
  if (result != Result::Success)
    throw NoGpu(std::string("the ") + make->name + " driver does not start (" + nameOf(result) +
                ")" + make->remedy);
  check(driverVersion(&version), "ask for the version of the driver");
}

std::string Driver::nameOf(Result result) const {
  const char *name = nullptr;
  if (errorName(result, &name) == Result::Success && name)
    return name;
  return std::string(make->name) + " error " + std::to_string(int(result));
}

int Driver::count() const {
  int count = 0;
  check(deviceCount(&count), "be counted");
  return count;
}

void Driver::check(Result result, const char *what) const {
  if (result != Result::Success)
    throw std::runtime_error(std::string("the GPU could not ") + what + ": " + nameOf(result));
}

} // namespace nanobragg::cuda
