//===- KernelProvider.h - where kernels come from ---------------*- C++ -*-===//
//
// The one place that turns a request into a runnable kernel. Today it remembers the kernels of
// this process and compiles the others; a cache on disk goes between the two.
//
//===----------------------------------------------------------------------===//
#ifndef NANOBRAGG_KERNELPROVIDER_H
#define NANOBRAGG_KERNELPROVIDER_H

#include "nanobragg/CompilerLibrary.h"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>

namespace nanobragg {

struct KernelCounters {
  std::uint64_t hits = 0; ///< requests answered with a kernel of this process
  std::uint64_t compiles = 0;
  double compilerLoadSeconds = 0; ///< spent waiting for the compiler library
  double compileSeconds = 0;      ///< in the compiler, after it was loaded
};

/// Safe to use from several threads; requests for kernels that have to be compiled wait for each
/// other.
class KernelProvider {
public:
  using OpenLibrary = std::function<std::shared_ptr<const CompilerLibrary>()>;

  explicit KernelProvider(OpenLibrary open = CompilerLibrary::open) : open(std::move(open)) {}

  /// Begins to open the compiler library in the background, for a caller that has files to read
  /// meanwhile. Errors appear when the compiler is first needed.
  void preload();

  /// Throws std::runtime_error with the compiler's reason.
  KernelHandle get(const KernelRequest &request);

  /// The compiler itself, opened when this is first called.
  std::shared_ptr<const CompilerLibrary> compiler();

  KernelCounters counters() const;

private:
  std::shared_ptr<const CompilerLibrary> compilerLocked();

  OpenLibrary open;
  mutable std::mutex mutex;
  std::future<std::shared_ptr<const CompilerLibrary>> opening;
  std::shared_ptr<const CompilerLibrary> library;
  std::map<std::string, KernelHandle> kernels;
  KernelCounters count;
};

} // namespace nanobragg
#endif
