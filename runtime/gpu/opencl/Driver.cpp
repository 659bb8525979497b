#include "runtime/gpu/opencl/Driver.h"

#include "runtime/gpu/DriverLibrary.h"

namespace nanobragg::opencl {
namespace {

constexpr const char *remedy = "; use --device=cpu, or install an OpenCL loader (libOpenCL.so.1) "
                               "and the runtime of the device";

Driver load() {
  const gpu::DriverLibrary library({"libOpenCL.so.1"}, "OpenCL", remedy);
  Driver driver;
  const auto find = [&](auto &function, const char *symbol) {
    library.find(function, symbol, "the OpenCL loader",
                 "; install one of OpenCL 2.1 or newer, or use --device=cpu");
  };
#define NB_FIND(name, symbol, parameters) find(driver.name, #symbol);
  NB_OPENCL_FUNCTIONS(NB_FIND)
#undef NB_FIND
#define NB_FIND(type, name, symbol, parameters) find(driver.name, #symbol);
  NB_OPENCL_MAKERS(NB_FIND)
#undef NB_FIND
  return driver;
}

} // namespace

const Driver &Driver::open() {
  static const Driver driver = load();
  return driver;
}

std::string nameOf(Result result) {
  switch (result) {
  case Result::Success:
    return "CL_SUCCESS";
  case Result::DeviceNotFound:
    return "CL_DEVICE_NOT_FOUND";
  case Result::OutOfResources:
    return "CL_OUT_OF_RESOURCES";
  case Result::OutOfHostMemory:
    return "CL_OUT_OF_HOST_MEMORY";
  case Result::BuildProgramFailure:
    return "CL_BUILD_PROGRAM_FAILURE";
  case Result::NoPlatform:
    return "CL_PLATFORM_NOT_FOUND_KHR";
  }
  return "OpenCL error " + std::to_string(std::int32_t(result));
}

void Driver::check(Result result, const char *what) const {
  if (result != Result::Success)
    throw std::runtime_error(std::string("the device could not ") + what + ": " + nameOf(result));
}

std::string Driver::askText(DeviceId device, Name name) const {
  char text[256] = "";
  check(deviceInfo(device, name, sizeof text - 1, text, nullptr), "say its name");
  return text;
}

} // namespace nanobragg::opencl
