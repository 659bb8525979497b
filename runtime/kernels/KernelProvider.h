// Where kernels come from.
//
// The one place that turns a request into a runnable kernel: one that this process has, or one that
// was compiled ahead of time, or one of the cache, or a new one from the compiler, which is opened
// for that and not before.
#ifndef NANOBRAGG_KERNELPROVIDER_H
#define NANOBRAGG_KERNELPROVIDER_H

#include "lib/Parallel/ProcessMutex.h"
#include "runtime/kernels/CompilerLibrary.h"
#include "runtime/kernels/KernelCache.h"
#include "runtime/kernels/KernelFile.h"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace nanobragg {

struct KernelCounters {
  std::uint64_t hits = 0;  ///< requests answered with a kernel of this process
  std::uint64_t loads = 0; ///< with one of the cache, or of a file
  std::uint64_t compiles = 0;
  double cacheSeconds = 0;        ///< reading, loading, publishing, and waiting for other processes
  double compilerLoadSeconds = 0; ///< spent waiting for the compiler library
  double compileSeconds = 0;      ///< in the compiler, after it was loaded
};

/// Safe to use from several threads; requests for kernels that have to be compiled wait for each
/// other.
class KernelProvider {
public:
  using OpenLibrary = std::function<std::shared_ptr<const CompilerLibrary>()>;

  /// Without a cache every kernel is compiled in process.
  explicit KernelProvider(OpenLibrary open = CompilerLibrary::open,
                          std::shared_ptr<KernelCache> cache = nullptr)
      : open(std::move(open)), cache(std::move(cache)), lines(keepsKernelFiles()) {}

  /// The one for the whole process, with the kernel cache that the environment describes. Never
  /// destroyed: whoever uses it may outlive everything else.
  static KernelProvider &ofProcess();
  /// The notices of the cache of ofProcess() since the last call: it does not write to standard
  /// error, which is the program's.
  static std::vector<std::string> takeNotices();

  /// Begins to open the compiler library in the background, for a caller that has files to read
  /// meanwhile and knows that no cached kernel will do. Errors appear when the compiler is first
  /// needed.
  void preload();

  /// Kernels of the processor have debug information from now on, also without a cache.
  void keepLines() { lines = true; }

  /// Throws std::runtime_error with the compiler's reason.
  KernelHandle get(const KernelRequest &request);

  /// A program for the interpreter; prepared once per request.
  std::shared_ptr<const PreparedProgram> program(const KernelRequest &request);

  /// The compiler itself, for a request: opened when this is first called.
  std::shared_ptr<const CompilerLibrary> compiler(const KernelRequest &request = {});

  KernelCounters counters() const;

private:
  std::shared_ptr<const CompilerLibrary> compilerLocked(const KernelRequest &request);
  KernelHandle build(const KernelRequest &request, std::vector<char> &image);
  KernelHandle compile(const KernelRequest &request);
  KernelHandle buildAndPublish(const KernelRequest &request, const std::string &specification);
  KernelHandle load(const KernelRequest &request, const std::string &file);
  KernelHandle loadOrBuild(const KernelRequest &request);

  OpenLibrary open;
  std::shared_ptr<KernelCache> cache;
  bool lines;
  mutable ProcessMutex mutex;
  std::future<std::shared_ptr<const CompilerLibrary>> opening;
  std::shared_ptr<const CompilerLibrary> library, libraryForPlugins;
  std::map<std::string, KernelHandle> kernels;
  std::map<std::string, std::shared_ptr<const PreparedProgram>> programs;
  KernelCounters count;
};

} // namespace nanobragg
#endif
