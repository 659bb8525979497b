// Kernels that outlive the process.
//
// One directory, one file per kernel. The request, written out as text, is an entry's
// specification: its hash names the file, and the file repeats it in full. The compiler is known by
// its build, not by loading it. Nothing that goes wrong here stops a run: it costs a compilation,
// and one warning where the user can do something about it.
#ifndef NANOBRAGG_KERNELCACHE_H
#define NANOBRAGG_KERNELCACHE_H

#include "runtime/kernels/CompilerLibrary.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace nanobragg {

class CacheDirectory;

/// As NB_CACHE_DIR, NB_CACHE_SIZE and NB_CACHE say.
struct CachePlace {
  std::filesystem::path directory;
  std::uint64_t mostBytes;
  /// Nothing where nothing is to be kept. Throws a Refusal when NB_CACHE_DIR is not an absolute
  /// path.
  static std::optional<CachePlace> fromEnvironment();
};

struct CacheOptions {
  /// As NB_CACHE_DIR (default: nanobragg in XDG_CACHE_HOME or ~/.cache) and NB_CACHE_SIZE say, for
  /// this machine and the installed compiler. The directory is empty when none of the variables is
  /// set; the compiler's build is empty when there is no such file. Throws a Refusal when
  /// NB_CACHE_DIR is not an absolute path.
  static CacheOptions fromEnvironment(std::function<void(const std::string &)> warn = {});

  std::filesystem::path directory{};
  std::string compilerBuild{}; ///< which compiler the kernels come from
  /// Asked again before a kernel is stored: somebody may have installed another compiler between
  /// the moment when it was identified and the one when it was opened. May be empty.
  std::function<std::string()> identifyCompiler{};
  std::string hostCpu{}; ///< the processor that "native" means here
  std::uint64_t mostBytes = 256u << 20;
  /// How long to wait for another process that compiles the same kernel.
  std::chrono::milliseconds lockTimeout = std::chrono::seconds(10);
  /// Called once at most with what goes wrong, and when it takes long to wait for another process.
  std::function<void(const std::string &)> warn{};
};

/// Everything in a request that decides the kernel's code, as canonical lines of text.
std::string describeRequest(const KernelRequest &request);

/// An entry as nb-cache shows it.
struct CachedKernel {
  std::string key;
  std::uint64_t bytes = 0;
  std::time_t lastUse = 0;
  std::string specification; ///< empty when the entry is damaged
  std::string problem;       ///< empty when it is not
};

/// Safe to use from several threads and processes.
class KernelCache {
public:
  explicit KernelCache(CacheOptions options);
  ~KernelCache();

  /// As the environment says; null when NB_CACHE is "off", when there is no place for a cache, or
  /// when the compiler cannot be told from others.
  static std::shared_ptr<KernelCache>
  fromEnvironment(std::function<void(const std::string &)> warn);

  /// All that decides a kernel's code: the request, the compiler, and where it matters the machine.
  std::string specificationOf(const KernelRequest &request) const;

  /// The loaded kernel of a specification, or null. An entry that is damaged or that somebody else
  /// wrote is deleted; one that cannot be read is left alone.
  KernelHandle find(const std::string &specification);

  /// While the result lives, other processes wait for it in lock(), for as long as the options say.
  /// Null when there is nothing to hold.
  std::shared_ptr<void> lock(const std::string &specification);

  /// The file beside an entry in which debuggers find the text of its program.
  std::string programFileOf(const std::string &specification) const;

  /// Stores a shared object, and beside it the text of its program if there is one, and sweeps.
  void publish(const std::string &specification, std::span<const char> image,
               const std::string &program = "");

  /// Entries by key. These throw where the others warn.
  std::vector<CachedKernel> list() const;
  /// Deletes all entries, texts of programs, reflection lists and schedules too; returns how many
  /// files that were.
  std::size_t clear();

private:
  const CacheDirectory *directory();
  void warnOnce(const std::string &problem);

  CacheOptions options;
  std::once_flag opening;
  std::unique_ptr<const CacheDirectory> opened; ///< null: refused
  std::atomic<bool> warned{false};
};

} // namespace nanobragg
#endif
