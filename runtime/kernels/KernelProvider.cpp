#include "runtime/kernels/KernelProvider.h"

#include "lib/Process/Refusal.h"
#include "lib/Trace/Trace.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/kernels/KernelFolders.h"
#include "runtime/processor/Stopwatch.h"

#include <stdexcept>
#include <system_error>
#include <utility>

namespace nanobragg {
namespace {

/// Throws when the kernel file is not for what the user has chosen.
void checkDevice(const nb_kernel_descriptor &kernel, const KernelRequest &request,
                 const std::string &file) {
  using Kind = DeviceChoice::Kind;
  const Kind choice = request.choice.kind;
  if (kernel.device && (choice == Kind::Cpu || choice == Kind::GpuOnCpu))
    throw std::runtime_error("the kernel " + file + " is for a GPU (" + kernel.target +
                             "), and --device asks for the processor; leave one of them out");
  if (!kernel.device && choice == Kind::Gpu)
    throw std::runtime_error("the kernel " + file + " is for a processor (" + kernel.target +
                             "), and --device asks for a GPU; leave one of them "
                             "out, or make the kernel for it with nb-compile --target=sm_90");
}

/// The key of a kernel of this process.
std::string identityOf(const KernelRequest &request) {
  return describeRequest(request) + request.file;
}

struct Notices {
  ProcessMutex mutex;
  std::vector<std::string> texts;

  static Notices &ofProcess() {
    static Notices &notices = *new Notices;
    return notices;
  }
};

} // namespace

KernelProvider &KernelProvider::ofProcess() {
  const auto note = [](const std::string &text) {
    Notices &notices = Notices::ofProcess();
    const std::lock_guard lock(notices.mutex);
    notices.texts.push_back(text);
  };
  static KernelProvider &kernels =
      *new KernelProvider(CompilerLibrary::open, KernelCache::fromEnvironment(note));
  return kernels;
}

std::vector<std::string> KernelProvider::takeNotices() {
  Notices &notices = Notices::ofProcess();
  const std::lock_guard lock(notices.mutex);
  return std::exchange(notices.texts, {});
}

void KernelProvider::preload() {
  std::lock_guard lock(mutex);
  if (!library && !opening.valid())
    try {
      opening = std::async(std::launch::async, open);
    } catch (const std::system_error &) {
      // No thread can be started, so it is opened when it is needed.
    }
}

std::shared_ptr<const CompilerLibrary>
KernelProvider::compilerLocked(const KernelRequest &request) {
  if (!request.passes.plugins.empty()) {
    if (!libraryForPlugins) {
      const TimeAdded watch(count.compilerLoadSeconds);
      libraryForPlugins = CompilerLibrary::openForPlugins();
    }
    return libraryForPlugins;
  }
  if (!library) {
    const TimeAdded watch(count.compilerLoadSeconds);
    library = opening.valid() ? opening.get() : open();
  }
  return library;
}

std::shared_ptr<const CompilerLibrary> KernelProvider::compiler(const KernelRequest &request) {
  std::lock_guard lock(mutex);
  return compilerLocked(request);
}

std::shared_ptr<const PreparedProgram> KernelProvider::program(const KernelRequest &request) {
  std::lock_guard lock(mutex);
  std::shared_ptr<const PreparedProgram> &program = programs[identityOf(request)];
  if (!program)
    program = compilerLocked(request)->prepare(request);
  return program;
}

/// Builds a kernel as a file that the process alone has.
KernelHandle KernelProvider::build(const KernelRequest &request, std::vector<char> &image) {
  const auto compiler = compilerLocked(request);
  const TimeAdded watch(count.compileSeconds);
  const trace::Span span("compiler", "compile the kernel");
  auto built = compiler->build(request);
  if (!built)
    throw std::runtime_error("the compiler library makes no files, and kernels of a GPU or with "
                             "--profile are files; install the one that belongs to this program");
  image = std::move(*built);
  KernelHandle kernel = loadKernel(image);
  ++count.compiles;
  return kernel;
}

KernelHandle KernelProvider::compile(const KernelRequest &request) {
  if (request.isForGpu() || lines) {
    std::vector<char> image;
    KernelRequest debugged = request;
    debugged.programFile = "program.mlir"; // which is nowhere but in the debug information
    return build(debugged, image);
  }
  const auto compiler = compilerLocked(request);
  const TimeAdded watch(count.compileSeconds);
  const trace::Span span("compiler", "compile the kernel");
  KernelHandle kernel = compiler->compile(request);
  ++count.compiles;
  checkDescriptor(*kernel);
  return kernel;
}

/// A kernel that cannot be built as a file can still be compiled in process, unless it is a GPU's.
KernelHandle KernelProvider::buildAndPublish(const KernelRequest &request,
                                             const std::string &specification) {
  const auto compiler = compilerLocked(request);
  std::optional<std::vector<char>> image;
  std::string program;
  KernelHandle kernel;
  try {
    const TimeAdded watch(count.compileSeconds);
    const trace::Span span("compiler", "compile the kernel");
    KernelRequest debugged = request;
    debugged.programFile = cache->programFileOf(specification);
    image = compiler->build(debugged);
    if (image) {
      kernel = loadKernel(*image);
      program = compiler->programLines(*image).text;
    }
  } catch (const Refusal &) {
    throw;
  } catch (const std::runtime_error &) {
    if (request.passes.any() || request.isForGpu())
      throw; // the same again would say the same twice
  }
  if (!kernel)
    return compile(request);
  ++count.compiles;
  const TimeAdded watch(count.cacheSeconds);
  const trace::Span span("cache", "keep the kernel");
  cache->publish(specification, *image, program);
  return kernel;
}

KernelHandle KernelProvider::loadOrBuild(const KernelRequest &request) {
  const std::string specification = cache->specificationOf(request);
  std::shared_ptr<void> held;
  {
    const TimeAdded watch(count.cacheSeconds);
    const trace::Span span("cache", "look for the kernel");
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
  const TimeAdded watch(count.cacheSeconds);
  trace::Span span("cache", "open the kernel file");
  span.explain([&] { return file; });
  KernelHandle kernel = openKernelFile(file);
  checkFits(*kernel, request.specification(), request.precision, "the kernel " + file);
  checkDevice(*kernel, request, file);
  ++count.loads;
  return kernel;
}

KernelHandle KernelProvider::get(const KernelRequest &request) {
  const trace::Span span("run", "get the kernel");
  std::lock_guard lock(mutex);
  const std::string key = identityOf(request);
  // A dump shows the compiler at work, so it always compiles.
  if (!request.dumpIR.empty())
    return kernels[key] = compile(request);
  if (const auto found = kernels.find(key); found != kernels.end()) {
    ++count.hits;
    return found->second;
  }
  // So do flags of MLIR, but once for each kernel. They may change it: it is kept nowhere.
  if (CompilerLibrary::hasFlags() && request.file.empty())
    return kernels[key] = compile(request);
  // Ready-made kernels have none of the user's passes, and the cache does not read their files.
  const OwnPasses &own = request.passes;
  const bool readsFiles = own.pipeline.find("files=") != std::string::npos;
  const bool cached = cache && own.plugins.empty() && own.patterns.empty() && !readsFiles;
  const std::string file = request.file.empty() && request.engine == Engine::Fused && !own.any()
                               ? findKernelFile(request).string()
                               : request.file;
  KernelHandle kernel = !file.empty()                               ? load(request, file)
                        : cached && request.engine == Engine::Fused ? loadOrBuild(request)
                                                                    : compile(request);
  return kernels[key] = std::move(kernel);
}

KernelCounters KernelProvider::counters() const {
  std::lock_guard lock(mutex);
  return count;
}

} // namespace nanobragg
