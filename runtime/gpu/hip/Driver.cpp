#include "runtime/gpu/hip/Driver.h"

#include "runtime/gpu/DriverLibrary.h"
#include "runtime/gpu/Vendors.h"
#include "runtime/gpu/cuda/Device.h"

#include <algorithm>
#include <vector>

namespace nanobragg::hip {
namespace {

struct OwnFunctions {
#define NB_MEMBER(result, name, symbol, parameters) result(*name) parameters = nullptr;
  NB_HIP_OWN_FUNCTIONS(NB_MEMBER)
#undef NB_MEMBER
  /// Fills a hipDeviceProp_t, of which versions of HIP have different ones.
  Result (*properties)(void *properties, int number) = nullptr;
};
OwnFunctions own;

Result errorName(Result result, const char **name) {
  *name = own.errorName(result);
  return Result::Success;
}

/// A context stands for the device of a number, which is made the thread's current one; the one
/// before is brought back.
thread_local std::vector<int> before;

Result retainContext(cuda::Context *context, Ordinal device) {
  *context = reinterpret_cast<cuda::Context>(std::size_t(device) + 1);
  return Result::Success;
}

Result releaseContext(Ordinal) { return Result::Success; }

Result pushContext(cuda::Context context) {
  int current = 0;
  if (const Result result = own.getDevice(&current); result != Result::Success)
    return result;
  const int wanted = int(reinterpret_cast<std::size_t>(context)) - 1;
  if (const Result result = own.setDevice(wanted); result != Result::Success)
    return result;
  before.push_back(current);
  return Result::Success;
}

Result popContext(cuda::Context *) {
  const int last = before.back();
  before.pop_back();
  return own.setDevice(last);
}

/// "gfx942" of "gfx942:sramecc+:xnack-". The properties have it behind the device's name, at a
/// place that depends on the version of HIP.
std::string chipOf(const cuda::Driver &driver, Ordinal device) {
  constexpr std::size_t room = 8192, sizeOfName = 256;
  std::vector<char> properties(room, 0);
  driver.check(own.properties(properties.data(), device), "say what it is");
  const std::string_view text(properties.data() + sizeOfName, room - sizeOfName);
  const std::size_t begin = text.find("gfx");
  if (begin == text.npos)
    throw NoGpu("the HIP driver does not say what chip the GPU is; use --device=cpu");
  const std::string_view rest = text.substr(begin);
  return std::string(rest.substr(0, rest.find_first_of(std::string_view(":\0", 2))));
}

bool fits(const nb_device_code &code, std::string_view chip) {
  return std::string_view(code.kind) == "hsaco" && chip == code.chip;
}

std::string needOf(const nb_device_code &code) {
  return std::string("a code object for ") + code.chip + " made by LLVM " + code.version;
}

/// "6.3" for 60342134.
std::string versionText(int version) {
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100);
}

constexpr cuda::Make make = {
    .name = "HIP",
    .device = "hip",
    .dlpack = 10,
    .hiddenBy = "HIP_VISIBLE_DEVICES",
    .remedy = "; use --device=cpu, or a machine with an AMD GPU and ROCm",
    .multiprocessorCount = multiprocessorCount,
    .chip = chipOf,
    .fits = fits,
    .needOf = needOf,
    .version = versionText,
};

cuda::Driver load() {
  // ROCm 7, 6 and 5.
  const gpu::DriverLibrary library({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
                                   "HIP driver", make.remedy);
  const auto find = [&](auto &function, const char *symbol) {
    library.find(function, symbol, "the HIP driver",
                 "; install ROCm 5 or newer, or use --device=cpu");
  };
  cuda::Driver driver;
  driver.make = &make;
#define NB_FIND(name, symbol, parameters) find(driver.name, #symbol);
  NB_HIP_FUNCTIONS(NB_FIND)
#undef NB_FIND
#define NB_FIND(result, name, symbol, parameters) find(own.name, #symbol);
  NB_HIP_OWN_FUNCTIONS(NB_FIND)
#undef NB_FIND
  // Since ROCm 6 the old name is that of an older structure.
  constexpr const char *newer = "hipGetDevicePropertiesR0600";
  find(own.properties, library.look(newer) ? newer : "hipGetDeviceProperties");
  driver.errorName = errorName;
  driver.retainContext = retainContext;
  driver.releaseContext = releaseContext;
  driver.pushContext = pushContext;
  driver.popContext = popContext;
  driver.start();
  return driver;
}

} // namespace

const cuda::Driver &openDriver() {
  static const cuda::Driver driver = load();
  return driver;
}

int countDevices() { return openDriver().count(); }

std::shared_ptr<gpu::Device> openDevice(int number) {
  return std::make_shared<cuda::Device>(openDriver(), number);
}

} // namespace nanobragg::hip
