// A CUDA driver without a GPU, for tests: libcuda.so.1 with the functions that the runtime calls.
//
// The device's memory is memory of this process that the driver keeps account of. A launch runs
// run_tile of NB_FAKE_CUDA_TWIN, the kernel file of the same program for gpu-on-cpu (of a program
// with sums over pixels NB_FAKE_CUDA_TWIN_SUMS), on the memory that it is given, after every
// pointer in it was found to be into the device's memory. What no user may do, or what is left at
// the end, ends the process with status 99.
//
// NB_FAKE_CUDA: words NAME=NUMBER with blanks between: devices, capability, version (of CUDA),
// memory (bytes), launch_ms (how long a launch takes). NB_FAKE_CUDA_LOG: a file that receives a
// line for each call that tests look at.
#include "nanobragg/KernelABI.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using Address = unsigned long long;

enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  UnsupportedPtxVersion = 222,
  NotFound = 500
};

[[noreturn]] void wrong(const std::string &what) {
  std::fprintf(stderr, "fake CUDA driver: %s\n", what.c_str());
  std::fflush(nullptr);
  ::_exit(99);
}

long long setting(const char *name, long long otherwise) {
  const char *all = std::getenv("NB_FAKE_CUDA");
  const std::string text = " " + std::string(all ? all : ""), key = " " + std::string(name) + "=";
  const std::size_t at = text.find(key);
  return at == text.npos ? otherwise : std::atoll(text.c_str() + at + key.size());
}

void log(const std::string &line) {
  static std::FILE *file = [] {
    const char *name = std::getenv("NB_FAKE_CUDA_LOG");
    return name ? std::fopen(name, "a") : nullptr;
  }();
  if (!file)
    return;
  std::fputs((line + "\n").c_str(), file);
  std::fflush(file);
}

struct Function {
  struct Module *module;
  bool reduces;
};

struct Module {
  Function entry{this, false}, reduce{this, true};
  bool sums = false; ///< it has been asked for its reducing entry
};

/// All that the process has on the device.
struct State {
  std::mutex mutex;
  std::map<Address, std::size_t> memory;
  std::set<Module *> modules;
  int streams = 0, contexts = 0;
  std::size_t used = 0, most = 0;

  ~State() {
    log("most " + std::to_string(most));
    if (!memory.empty() || !modules.empty() || streams || contexts)
      wrong("left at the end: " + std::to_string(memory.size()) + " pieces of memory, " +
            std::to_string(modules.size()) + " modules, " + std::to_string(streams) +
            " streams, " + std::to_string(contexts) + " contexts");
  }
} state;

thread_local int current = 0; ///< contexts that are current

void needContext(const char *function) {
  if (!current)
    wrong(std::string(function) + " without a current context");
}

std::size_t totalMemory() { return std::size_t(setting("memory", 1ll << 34)); }

/// Ends the process unless all of it is in one piece of the device's memory.
void checkRange(Address begin, std::size_t bytes, const std::string &what) {
  std::lock_guard lock(state.mutex);
  auto next = state.memory.upper_bound(begin);
  if (next == state.memory.begin())
    wrong(what + " is not in the device's memory");
  const auto &[start, size] = *std::prev(next);
  if (begin + bytes > start + size)
    wrong(what + " is not in the device's memory, or ends behind a piece of it");
}

template <typename T>
T *onDevice(Address address, std::size_t count, const std::string &what) {
  checkRange(address, count * sizeof(T), what);
  return reinterpret_cast<T *>(address);
}

const nb_kernel_descriptor &twinOf(const Module &module) {
  static std::map<std::string, const nb_kernel_descriptor *> loaded;
  const std::string variable = module.sums ? "NB_FAKE_CUDA_TWIN_SUMS" : "NB_FAKE_CUDA_TWIN";
  const nb_kernel_descriptor *&kernel = loaded[variable];
  if (kernel)
    return *kernel;
  const char *file = std::getenv(variable.c_str());
  void *library = file ? ::dlopen(file, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library)
    wrong(variable + " names no kernel file");
  const auto get = reinterpret_cast<nb_kernel_get_descriptor_fn>(
      ::dlsym(library, "nb_kernel_get_descriptor"));
  kernel = get();
  return *kernel;
}

/// The pointers that a kernel follows.
void checkArguments(const nb_kernel_descriptor &kernel, Address arguments, Address outputs,
                    std::size_t pixels) {
  const auto *values = onDevice<const Address>(arguments, kernel.num_parameters, "arguments");
  for (unsigned i = 0; i != kernel.num_parameters; ++i) {
    const std::string name = kernel.parameters[i].name;
    static constexpr std::size_t sizes[] = {8, 8, 24, 72, 8, 24, sizeof(nb_hkl_grid), 1, 8};
    const nb_parameter_kind kind = kernel.parameters[i].kind;
    const bool perPixel = kind == NB_PARAMETER_MASK || kind == NB_PARAMETER_IMAGE;
    checkRange(values[i], sizes[kind] * (perPixel ? pixels : 1), "the value of " + name);
    if (kind != NB_PARAMETER_HKL_GRID)
      continue;
    const auto &grid = *reinterpret_cast<const nb_hkl_grid *>(values[i]);
    const auto box = (grid.h_max - grid.h_min + 1) * (grid.k_max - grid.k_min + 1) *
                     (grid.l_max - grid.l_min + 1);
    checkRange(reinterpret_cast<Address>(grid.data), std::size_t(box) * 8, "the data of " + name);
  }
  const auto *places = onDevice<const Address>(outputs, kernel.num_outputs, "outputs");
  for (unsigned i = 0; i != kernel.num_outputs; ++i)
    if (kernel.outputs[i].kind == NB_OUTPUT_IMAGE)
      checkRange(places[i], pixels * (kernel.image_type == NB_IMAGE_F32 ? 4 : 8),
                 std::string("the output ") + kernel.outputs[i].name);
}

std::int64_t indexOf(const nb_kernel_descriptor &kernel, const Address *values, const char *name) {
  for (unsigned i = 0; i != kernel.num_parameters; ++i)
    if (std::strcmp(kernel.parameters[i].name, name) == 0)
      return *reinterpret_cast<const std::int64_t *>(values[i]);
  return 1;
}

Result render(const nb_kernel_descriptor &kernel, unsigned blocks, unsigned threads,
              void **parameters) {
  Address at[5];
  for (int i = 0; i != 5; ++i)
    at[i] = *static_cast<Address *>(parameters[i]);
  const auto *values = onDevice<const Address>(at[0], kernel.num_parameters, "arguments");
  for (unsigned i = 0; i != kernel.num_parameters; ++i)
    checkRange(values[i], 1, std::string("the value of ") + kernel.parameters[i].name);
  const std::int64_t fast = indexOf(kernel, values, "fast_pixels"),
                     pixels = fast * indexOf(kernel, values, "slow_pixels") *
                              indexOf(kernel, values, "panel_count");
  checkArguments(kernel, at[0], at[3], std::size_t(pixels));
  const auto *arguments = reinterpret_cast<const void *const *>(at[0]);
  const auto *tile = onDevice<const nb_tile>(at[2], 1, "the tile");
  onDevice<char>(at[1], std::size_t(kernel.workspace_size(arguments)), "the workspace");
  if (kernel.accumulator_size)
    onDevice<char>(at[4], std::size_t(kernel.accumulator_size(arguments)), "the accumulators");
  const std::int64_t chunks = (tile->slow_end - tile->slow_begin) * ((fast + 127) / 128);
  if (threads != 128 || (!kernel.accumulator_size && blocks != chunks))
    wrong("a launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
          " threads for " + std::to_string(chunks) + " chunks");
  kernel.run_tile(arguments, reinterpret_cast<void *>(at[1]), tile,
                  reinterpret_cast<void *const *>(at[3]), reinterpret_cast<void *>(at[4]), nullptr);
  return Success;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

Result cuInit(unsigned) {
  return setting("devices", 1) ? Success : NoDevice;
}
Result cuDriverGetVersion(int *version) {
  *version = int(setting("version", 13000));
  return Success;
}
Result cuGetErrorName(Result result, const char **name) {
  static const std::map<int, const char *> names = {
      {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {NoDevice, "CUDA_ERROR_NO_DEVICE"},
      {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {UnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {NotFound, "CUDA_ERROR_NOT_FOUND"}};
  const auto found = names.find(result);
  *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
  return Success;
}

Result cuDeviceGetCount(int *count) {
  *count = int(setting("devices", 1));
  return Success;
}
Result cuDeviceGet(int *device, int number) {
  *device = number;
  return number < setting("devices", 1) ? Success : InvalidDevice;
}
Result cuDeviceGetName(char *name, int capacity, int) {
  std::snprintf(name, std::size_t(capacity), "Fake GPU");
  return Success;
}
Result cuDeviceGetAttribute(int *value, int attribute, int) {
  const int capability = int(setting("capability", 90));
  switch (attribute) {
  case 16:
    *value = 4;
    return Success;
  case 75:
    *value = capability / 10;
    return Success;
  case 76:
    *value = capability % 10;
    return Success;
  }
  return InvalidValue;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) {
  std::lock_guard lock(state.mutex);
  ++state.contexts;
  *context = reinterpret_cast<void *>(std::size_t(device) + 1);
  return Success;
}
Result cuDevicePrimaryCtxRelease_v2(int) {
  std::lock_guard lock(state.mutex);
  if (--state.contexts == 0 && (!state.memory.empty() || !state.modules.empty()))
    wrong("the context is released before what is in it");
  return Success;
}
Result cuCtxPushCurrent_v2(void *) {
  ++current;
  return Success;
}
Result cuCtxPopCurrent_v2(void **context) {
  if (--current < 0)
    wrong("more contexts are popped than were pushed");
  *context = nullptr;
  return Success;
}

Result cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  needContext("cuMemGetInfo");
  std::lock_guard lock(state.mutex);
  *total = totalMemory();
  *free = *total - state.used;
  return Success;
}
Result cuMemAlloc_v2(Address *address, std::size_t bytes) {
  needContext("cuMemAlloc");
  if (bytes == 0)
    return InvalidValue;
  std::lock_guard lock(state.mutex);
  if (bytes > totalMemory() - state.used)
    return OutOfMemory;
  void *memory = ::operator new(bytes, std::align_val_t(256));
  std::memset(memory, 0xa5, bytes); // nobody may rely on zeros
  *address = reinterpret_cast<Address>(memory);
  state.memory[*address] = bytes;
  state.used += bytes;
  state.most = std::max(state.most, state.used);
  log("allocate " + std::to_string(bytes));
  return Success;
}
Result cuMemFree_v2(Address address) {
  needContext("cuMemFree");
  std::lock_guard lock(state.mutex);
  const auto found = state.memory.find(address);
  if (found == state.memory.end())
    wrong("what is freed was not allocated");
  ::operator delete(reinterpret_cast<void *>(address), std::align_val_t(256));
  state.used -= found->second;
  state.memory.erase(found);
  log("free");
  return Success;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void *from, std::size_t bytes, void *) {
  needContext("cuMemcpyHtoDAsync");
  std::memcpy(onDevice<char>(to, bytes, "what is copied to"), from, bytes);
  log("upload " + std::to_string(bytes));
  return Success;
}
Result cuMemcpyDtoHAsync_v2(void *to, Address from, std::size_t bytes, void *) {
  needContext("cuMemcpyDtoHAsync");
  std::memcpy(to, onDevice<char>(from, bytes, "what is copied from"), bytes);
  log("download " + std::to_string(bytes));
  return Success;
}
Result cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void *) {
  needContext("cuMemsetD8Async");
  std::memset(onDevice<char>(to, bytes, "what is set"), value, bytes);
  return Success;
}

Result cuStreamCreate(void **stream, unsigned) {
  needContext("cuStreamCreate");
  std::lock_guard lock(state.mutex);
  *stream = reinterpret_cast<void *>(std::size_t(++state.streams));
  return Success;
}
Result cuStreamDestroy_v2(void *) {
  std::lock_guard lock(state.mutex);
  --state.streams;
  return Success;
}
Result cuStreamSynchronize(void *) {
  needContext("cuStreamSynchronize");
  log("synchronize");
  return Success;
}

Result cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  needContext("cuModuleLoadDataEx");
  const int version = int(setting("version", 13000));
  const bool cubin = std::memcmp(image, "\177ELF", 4) == 0;
  if (cubin && version < 12000)
    return InvalidImage; // as a driver that knows only older files
  if (!cubin) {
    const char *text = std::strstr(static_cast<const char *>(image), ".version ");
    int major = 0, minor = 0;
    if (!text || std::sscanf(text, ".version %d.%d", &major, &minor) != 2)
      return InvalidImage;
    if (10 * major + minor > (version >= 11080 ? 78 : 70) && version < 12080)
      return UnsupportedPtxVersion;
  }
  auto *made = new Module;
  std::lock_guard lock(state.mutex);
  state.modules.insert(made);
  *module = made;
  log(cubin ? "module cubin" : "module ptx");
  return Success;
}
Result cuModuleUnload(Module *module) {
  std::lock_guard lock(state.mutex);
  if (!state.modules.erase(module))
    wrong("an unknown module is unloaded");
  delete module;
  return Success;
}
Result cuModuleGetFunction(Function **function, Module *module, const char *name) {
  const bool reduces = std::string(name).ends_with("_reduce");
  module->sums |= reduces;
  *function = reduces ? &module->reduce : &module->entry;
  return Success;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *, int, std::size_t) {
  *blocks = 4;
  return Success;
}

Result cuLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                      unsigned, unsigned, unsigned, void *, void **parameters, void **) {
  needContext("cuLaunchKernel");
  if (!x || y != 1 || z != 1)
    return InvalidValue;
  log((function->reduces ? "reduce " : "launch ") + std::to_string(x));
  if (function->reduces)
    return threads == 32 ? Success : InvalidValue; // the twin's run_tile has done it
  std::this_thread::sleep_for(std::chrono::milliseconds(setting("launch_ms", 0)));
  return render(twinOf(*function->module), x, threads, parameters);
}

} // extern "C"
#pragma GCC visibility pop
