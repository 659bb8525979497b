#include "runtime/gpu/opencl/Module.h"

#include <string_view>

namespace nanobragg::opencl {

/// The kernel's SPIR-V; null: it has none.
static const nb_device_code *spirvOf(const nb_device_kernel &kernel) {
  for (std::uint32_t i = 0; i != kernel.num_codes; ++i)
    if (std::string_view(kernel.codes[i].kind) == "spirv")
      return &kernel.codes[i];
  return nullptr;
}

Module::Module(std::shared_ptr<const Device> on, KernelHandle handle)
    : device(std::move(on)), driver(device->driver()), kernel(std::move(handle)) {
  const nb_device_kernel &codes = *kernel->device;
  const nb_device_code *code = spirvOf(codes);
  if (!code)
    throw std::runtime_error("the kernel has code for " + std::string(codes.codes[0].chip) +
                             " and the device is " + device->describe() +
                             "; make one with nb-compile --target=" + device->chip());
  try {
    build(*code);
    entryKernel = find(codes.entry);
    if (codes.reduce)
      reduceKernel = find(codes.reduce);
    checkSubGroups();
  } catch (...) {
    release();
    throw;
  }
}

Module::~Module() { release(); }

void Module::release() noexcept {
  for (Kernel one : {entryKernel, reduceKernel})
    if (one)
      driver.releaseKernel(one);
  if (program)
    driver.releaseProgram(program);
}

void Module::build(const nb_device_code &code) {
  Result result = Result::Success;
  program = driver.createProgram(device->context(), code.bytes, code.size, &result);
  driver.check(result, "take the kernel");
  const DeviceId id = device->id();
  result = driver.buildProgram(program, 1, &id, "", nullptr, nullptr);
  if (result == Result::Success)
    return;
  char log[1024] = "";
  driver.programBuildInfo(program, id, buildLog, sizeof log - 1, log, nullptr);
  const std::string_view text(log);
  const std::string_view line = text.substr(0, text.find('\n'));
  throw std::runtime_error("the device " + device->describe() + " refuses the kernel (SPIR-V " +
                           code.version + ": " + nameOf(result) + (line.empty() ? "" : ", ") +
                           std::string(line) +
                           "); install a newer runtime for it, or use --device=cpu");
}

Kernel Module::find(const char *name) const {
  Result result = Result::Success;
  Kernel found = driver.createKernel(program, name, &result);
  driver.check(result, "find the kernel in its own code");
  return found;
}

/// Threads exchange numbers within sub-groups of as many as the kernel was made for.
void Module::checkSubGroups() const {
  const std::size_t threads[] = {kernel->device->threads};
  std::size_t size = 0;
  driver.check(driver.subGroupInfo(entryKernel, device->id(), subGroupSize, sizeof threads, threads,
                                   sizeof size, &size, nullptr),
               "say how many threads run in step");
  if (size != kernel->device->warp)
    throw std::runtime_error("the device " + device->describe() + " runs " + std::to_string(size) +
                             " threads in step, and the kernel is made for " +
                             std::to_string(kernel->device->warp) + "; use --device=cpu");
}

std::int64_t Module::residentBlocks() const {
  constexpr std::int64_t ofUnit = 4; // OpenCL does not say
  return ofUnit * device->computeUnits();
}

void Module::launchOn(CommandQueue queue, const gpu::Launch &launch) const {
  constexpr const char *what = "launch the kernel";
  Kernel launched = launch.entry == gpu::Entry::Render ? entryKernel : reduceKernel;
  std::lock_guard lock(launching);
  Count index = 0;
  for (const Address address : launch.pointers)
    driver.check(driver.setPointer(launched, index++, reinterpret_cast<const void *>(address)),
                 what);
  for (const std::int64_t &number : launch.numbers)
    driver.check(driver.setArgument(launched, index++, sizeof number, &number), what);
  if (!launch.behind.empty())
    driver.check(driver.setExecInfo(launched, sharedPointers, launch.behind.size_bytes(),
                                    launch.behind.data()),
                 what);
  const std::size_t ofBlock[] = {std::size_t(launch.threads)};
  const std::size_t all[] = {std::size_t(launch.blocks * launch.threads)};
  driver.check(driver.launch(queue, launched, 1, nullptr, all, ofBlock, 0, nullptr, nullptr), what);
}

} // namespace nanobragg::opencl
