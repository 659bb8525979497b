#include "runtime/kernels/KernelCache.h"

#include "lib/Process/Refusal.h"
#include "lib/Program/KernelSpecification.h"
#include "lib/Target/Assembler.h"
#include "runtime/kernels/CacheDirectory.h"
#include "runtime/kernels/CacheEntry.h"
#include "runtime/kernels/CompilerBuild.h"
#include "runtime/kernels/KernelFile.h"

#include <algorithm>
#include <exception>

namespace nanobragg {
namespace {

std::string fileOf(const std::string &key) { return key + ".so"; }
std::string programOf(const std::string &key) { return key + ".mlir"; }

} // namespace

KernelCache::KernelCache(CacheOptions cacheOptions) : options(std::move(cacheOptions)) {}

KernelCache::~KernelCache() = default;

/// Nothing where there is nothing to say: most kernels have no passes of the user's.
static std::string line(const char *what, const std::string &text) {
  return text.empty() ? "" : std::string(what) + ": " + text + "\n";
}

std::string describeRequest(const KernelRequest &request) {
  return "target: " + request.targetText() + "\nprecision: " + toString(request.precision) +
         "\ndifferentiated: " + request.derivative.toString() +
         "\nfused: " + (request.engine == Engine::Interpreter ? "no" : "yes") + "\nvariant: " +
         KernelSpecification{request.variant, {}, request.fixed, request.cull}.toString() + "\n" +
         line("pipeline", request.passes.pipeline) + line("plugins", request.passes.plugins) +
         line("patterns", request.passes.patterns);
}

/// Kernels of an NVIDIA GPU are cubin where there is an assembler, else PTX.
static std::string describeAssembler(const KernelRequest &request) {
  if (!request.isForGpu())
    return "";
  const std::string program = gpu::findAssembler(request.target.name);
  return "assembler: " + (program.empty() ? "none" : program + " " + identifyBuild(program)) + "\n";
}

std::string KernelCache::specificationOf(const KernelRequest &request) const {
  return "nanobragg kernel\nkernel abi: " + std::to_string(NB_KERNEL_ABI_VERSION) +
         "\ncompiler: " + options.compilerBuild + "\n" +
         (request.target.isHere() ? options.hostCpu : "") + describeAssembler(request) +
         describeRequest(request);
}

void KernelCache::warnOnce(const std::string &problem) {
  if (options.warn && !warned.exchange(true))
    options.warn(problem + " (kernels are compiled at each start; NB_CACHE=off hides this)");
}

const CacheDirectory *KernelCache::directory() {
  std::call_once(opening, [this] {
    try {
      opened = std::make_unique<const CacheDirectory>(
          *CacheDirectory::open(options.directory, /*create=*/true));
    } catch (const std::exception &error) {
      warnOnce(error.what());
    }
  });
  return opened.get();
}

KernelHandle KernelCache::find(const std::string &specification) {
  const CacheDirectory *folder = directory();
  if (!folder)
    return nullptr;
  const std::string name = fileOf(keyOf(specification));
  const CacheDirectory::Reading reading = folder->read(name);
  CacheEntry entry;
  switch (reading.state) {
  case CacheDirectory::State::Missing:
    return nullptr;
  case CacheDirectory::State::Failed:
    warnOnce("cannot read a cached kernel: " + reading.problem);
    return nullptr;
  case CacheDirectory::State::Bad:
    folder->remove(name);
    return nullptr;
  case CacheDirectory::State::Found:
    try {
      entry = decodeEntry(reading.bytes);
    } catch (const std::exception &) {
      folder->remove(name);
      return nullptr;
    }
  }
  // A sound kernel of another specification with the same hash: the next publish replaces it.
  if (entry.specification != specification)
    return nullptr;
  try {
    KernelHandle kernel = loadKernel(entry.image);
    folder->touch(name);
    folder->touch(programOf(keyOf(specification)));
    return kernel;
  } catch (const Refusal &) {
    throw;
  } catch (const std::exception &error) {
    // The content is what was written, so deleting it would not help.
    warnOnce(error.what());
    return nullptr;
  }
}

std::shared_ptr<void> KernelCache::lock(const std::string &specification) {
  const CacheDirectory *folder = directory();
  if (!folder)
    return nullptr;
  const std::uint64_t number = std::stoull(keyOf(specification).substr(0, 16), nullptr, 16);
  // Most kernels are compiled within this time.
  const auto quietly = std::min(options.lockTimeout, std::chrono::milliseconds(500));
  const auto begin = std::chrono::steady_clock::now();
  auto held = folder->lock(number, quietly);
  // Sooner: it cannot be had at all, as where nothing can be written.
  const bool waited = std::chrono::steady_clock::now() - begin >= quietly;
  if (!held && waited && options.lockTimeout > quietly) {
    const auto rest = options.lockTimeout - quietly;
    if (options.warn)
      options.warn("another process holds the lock of the kernel cache " +
                   options.directory.string() +
                   ", where it compiles the same kernel; waiting for it, at most " +
                   std::to_string((rest.count() + 999) / 1000) + " s (NB_CACHE=off does not wait)");
    held = folder->lock(number, rest);
  }
  return held ? std::make_shared<FileDescriptor>(std::move(*held)) : nullptr;
}

std::string KernelCache::programFileOf(const std::string &specification) const {
  return options.directory / programOf(keyOf(specification));
}

void KernelCache::publish(const std::string &specification, std::span<const char> image,
                          const std::string &program) {
  const CacheDirectory *folder = directory();
  const std::string bytes = encodeEntry({image, specification});
  if (!folder)
    return;
  if (const std::uint64_t most = std::min(options.mostBytes, mostEntryBytes); bytes.size() > most)
    return warnOnce("the kernel cache " + options.directory.string() + " takes no kernel of " +
                    std::to_string(bytes.size()) + " bytes, but at most " + std::to_string(most) +
                    "; enlarge NB_CACHE_SIZE");
  if (options.identifyCompiler && options.identifyCompiler() != options.compilerBuild)
    return;
  const std::string name = fileOf(keyOf(specification));
  try {
    folder->write(name, bytes);
    if (!program.empty())
      folder->write(programOf(keyOf(specification)), program);
    folder->sweep(options.mostBytes, name);
  } catch (const std::exception &error) {
    warnOnce("the kernel cache " + options.directory.string() + ": " + error.what());
  }
}

std::vector<CachedKernel> KernelCache::list() const {
  std::vector<CachedKernel> kernels;
  const auto folder = CacheDirectory::open(options.directory, /*create=*/false);
  if (!folder)
    return kernels;
  for (const CacheDirectory::File &file : folder->entries()) {
    if (file.name != fileOf(std::filesystem::path(file.name).stem().string()))
      continue; // a reflection list or a schedule
    CachedKernel kernel;
    kernel.key = std::filesystem::path(file.name).stem().string();
    kernel.bytes = file.bytes;
    kernel.lastUse = file.lastUse.tv_sec;
    const CacheDirectory::Reading reading = folder->read(file.name);
    kernel.problem = reading.problem;
    if (reading.state == CacheDirectory::State::Found) {
      try {
        kernel.specification = decodeEntry(reading.bytes).specification;
        if (keyOf(kernel.specification) != kernel.key)
          kernel.problem = "it has another kernel's name";
      } catch (const std::exception &error) {
        kernel.problem = error.what();
      }
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::size_t KernelCache::clear() {
  const auto folder = CacheDirectory::open(options.directory, /*create=*/false);
  if (!folder)
    return 0;
  const auto entries = folder->entries();
  for (const CacheDirectory::File &file : entries)
    folder->remove(file.name);
  folder->sweep(0, "");
  return entries.size();
}

} // namespace nanobragg
