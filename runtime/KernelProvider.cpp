//===- KernelProvider.cpp -------------------------------------------------===//
#include "nanobragg/KernelProvider.h"

#include "nanobragg/KernelFile.h"
#include "nanobragg/KernelFit.h"
#include "nanobragg/KernelFolders.h"

#include <chrono>
#include <stdexcept>

namespace nanobragg {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time that it lives.
class Stopwatch {
public:
  explicit Stopwatch(double &seconds) : seconds(seconds) {}
  ~Stopwatch() { seconds += std::chrono::duration<double>(Clock::now() - start).count(); }

private:
  double &seconds;
  Clock::time_point start = Clock::now();
};

/// Of the kernels of this process.
std::string keyOf(const KernelRequest &request) { return describeRequest(request) + request.file; }

} // namespace

KernelProvider &KernelProvider::ofProcess() {
  static KernelProvider &kernels =
      *new KernelProvider(CompilerLibrary::open, KernelCache::fromEnvironment({}));
  return kernels;
}

void KernelProvider::preload() {
  std::lock_guard lock(mutex);
  if (!library && !opening.valid())
    opening = std::async(std::launch::async, open);
}

std::shared_ptr<const CompilerLibrary> KernelProvider::compilerLocked() {
  if (!library) {
    const Stopwatch watch(count.compilerLoadSeconds);
    library = opening.valid() ? opening.get() : open();
  }
  return library;
}

std::shared_ptr<const CompilerLibrary> KernelProvider::compiler() {
  std::lock_guard lock(mutex);
  return compilerLocked();
}

std::shared_ptr<const PreparedProgram> KernelProvider::program(const KernelRequest &request) {
  std::lock_guard lock(mutex);
  std::shared_ptr<const PreparedProgram> &program = programs[keyOf(request)];
  if (!program)
    program = compilerLocked()->prepare(request);
  return program;
}

KernelHandle KernelProvider::compile(const KernelRequest &request) {
  const auto compiler = compilerLocked();
  const Stopwatch watch(count.compileSeconds);
  KernelHandle kernel = compiler->compile(request);
  ++count.compiles;
  checkDescriptor(*kernel);
  return kernel;
}

/// A kernel that cannot be built as a file can still be compiled in process.
KernelHandle KernelProvider::buildAndPublish(const KernelRequest &request,
                                             const std::string &specification) {
  const auto compiler = compilerLocked();
  std::optional<std::vector<char>> image;
  KernelHandle kernel;
  try {
    const Stopwatch watch(count.compileSeconds);
    image = compiler->build(request);
    if (image)
      kernel = loadKernel(*image);
  } catch (const std::runtime_error &) {
  }
  if (!kernel)
    return compile(request);
  ++count.compiles;
  const Stopwatch watch(count.cacheSeconds);
  cache->publish(specification, *image);
  return kernel;
}

KernelHandle KernelProvider::loadOrBuild(const KernelRequest &request) {
  const std::string specification = cache->specificationOf(request);
  std::shared_ptr<void> held;
  {
    const Stopwatch watch(count.cacheSeconds);
    KernelHandle kernel = cache->find(specification);
    if (!kernel) {
      // Whoever waited for another process finds its kernel.
      held = cache->lock(specification);
      kernel = held ? cache->find(specification) : nullptr;
    }
    if (kernel) {
      ++count.loads;
      return kernel;
    }
  }
  return buildAndPublish(request, specification);
}

KernelHandle KernelProvider::load(const KernelRequest &request, const std::string &file) {
  const Stopwatch watch(count.cacheSeconds);
  KernelHandle kernel = openKernelFile(file);
  const bool derives = !request.derivative.empty() && request.derivative != "none";
  checkFits(*kernel, request.structure + (derives ? " derivative=" + request.derivative : ""),
            request.precision, "the kernel " + file);
  ++count.loads;
  return kernel;
}

KernelHandle KernelProvider::get(const KernelRequest &request) {
  std::lock_guard lock(mutex);
  const std::string key = keyOf(request);
  // A dump shows the compiler at work, so it always compiles.
  if (!request.dumpIR.empty())
    return kernels[key] = compile(request);
  if (const auto found = kernels.find(key); found != kernels.end()) {
    ++count.hits;
    return found->second;
  }
  const std::string file =
      request.file.empty() && !request.noFuse ? findKernelFile(request).string() : request.file;
  KernelHandle kernel = !file.empty()              ? load(request, file)
                        : cache && !request.noFuse ? loadOrBuild(request)
                                                   : compile(request);
  return kernels[key] = std::move(kernel);
}

KernelCounters KernelProvider::counters() const {
  std::lock_guard lock(mutex);
  return count;
}

} // namespace nanobragg
