//===- KernelProvider.cpp -------------------------------------------------===//
#include "nanobragg/KernelProvider.h"

#include <chrono>

namespace nanobragg {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Everything that decides the code, and nothing else.
std::string keyOf(const KernelRequest &request) {
  return request.structure + '\n' + request.precision + '\n' + request.target + '\n' +
         (request.noFuse ? "no-fuse" : "fuse");
}

} // namespace

void KernelProvider::preload() {
  std::lock_guard lock(mutex);
  if (!library && !opening.valid())
    opening = std::async(std::launch::async, open);
}

std::shared_ptr<const CompilerLibrary> KernelProvider::compilerLocked() {
  if (!library) {
    const auto start = Clock::now();
    library = opening.valid() ? opening.get() : open();
    count.compilerLoadSeconds += secondsSince(start);
  }
  return library;
}

std::shared_ptr<const CompilerLibrary> KernelProvider::compiler() {
  std::lock_guard lock(mutex);
  return compilerLocked();
}

KernelHandle KernelProvider::get(const KernelRequest &request) {
  std::lock_guard lock(mutex);
  const std::string key = keyOf(request);
  // A dump shows the compiler at work, so it always compiles.
  if (const auto found = kernels.find(key); found != kernels.end() && request.dumpIR.empty()) {
    ++count.hits;
    return found->second;
  }
  const auto compiler = compilerLocked();
  const auto start = Clock::now();
  KernelHandle kernel = compiler->compile(request);
  count.compileSeconds += secondsSince(start);
  ++count.compiles;
  checkDescriptor(*kernel);
  kernels[key] = kernel;
  return kernel;
}

KernelCounters KernelProvider::counters() const {
  std::lock_guard lock(mutex);
  return count;
}

} // namespace nanobragg
