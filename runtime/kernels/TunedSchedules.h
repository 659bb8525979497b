// Pipelines that nb-try --tune found.
//
// They lie beside the kernels of the cache and are kept by the same rules: the folder belongs to
// the user alone, an entry has a checksum, the least recently used go first. A schedule is for one
// variant, one precision, one processor and one build of the compiler.
#ifndef NANOBRAGG_RUNTIME_TUNEDSCHEDULES_H
#define NANOBRAGG_RUNTIME_TUNEDSCHEDULES_H

#include "runtime/kernels/KernelCache.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

struct KeptSchedule {
  std::string variant, precision, pipeline;
  std::time_t lastUse = 0;
  bool here = false; ///< for this processor and build of the compiler
};

class TunedSchedules {
public:
  /// The schedules for the directory, processor and compiler of `options`.
  explicit TunedSchedules(CacheOptions options) : options(std::move(options)) {}

  /// As the environment says; null where nothing is kept.
  static std::unique_ptr<TunedSchedules> fromEnvironment();

  /// The pipeline, as --pipeline takes it. Nothing that goes wrong here stops a run: the compiler's
  /// own passes are taken then. A damaged entry is deleted.
  std::optional<std::string> find(const std::string &variant, const std::string &precision);

  /// All that can be read, of other processors and compilers too. Throws std::runtime_error where
  /// the folder cannot be used.
  std::vector<KeptSchedule> list() const;

  /// In the place of what is kept. Throws std::runtime_error where it cannot be written.
  void keep(const std::string &variant, const std::string &precision, const std::string &pipeline);

  /// Deletes what is kept, if anything: for a program whose own passes are the fastest.
  void forget(const std::string &variant, const std::string &precision);

private:
  std::string specificationOf(const std::string &variant, const std::string &precision) const;

  CacheOptions options;
};

} // namespace nanobragg
#endif
