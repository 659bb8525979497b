// The database of pipelines that nb-try --tune found.
//
// Its entries lie beside the kernels of the cache and are kept by the same rules: the folder
// belongs to the user alone, an entry has a checksum, the least recently used go first. A schedule
// is for one variant, one precision, one processor and one build of the compiler.
#ifndef NANOBRAGG_RUNTIME_TUNEDSCHEDULES_H
#define NANOBRAGG_RUNTIME_TUNEDSCHEDULES_H

#include "runtime/kernels/KernelCache.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

struct TunedSchedule {
  std::string variant, precision;
  std::string pipeline;    ///< as --pipeline takes it
  std::string shape;       ///< shapeOf() the experiment that it was measured with
  bool everyShape = false; ///< right and no slower at all other shapes that were tried
  double change = 1;       ///< its time over that of the compiler's own passes
  /// Those that it was measured with, as CacheOptions has them; empty: those at hand.
  std::string compiler{}, processor{};
};

struct KeptSchedule : TunedSchedule {
  std::time_t lastUse = 0;
  bool here = false; ///< for this processor and build of the compiler
};

class TunedSchedules {
public:
  /// The schedules for the directory, processor and compiler of `options`.
  explicit TunedSchedules(CacheOptions options) : options(std::move(options)) {}

  /// As the environment says; null where nothing is kept.
  static std::unique_ptr<TunedSchedules> fromEnvironment();

  /// The pipeline: one that was measured with this shape, or else one for every shape. Nothing that
  /// goes wrong here stops a run: the compiler's own passes are taken then. A damaged entry is
  /// deleted.
  std::optional<std::string> find(const std::string &variant, const std::string &precision,
                                  const std::string &shape);

  /// All that can be read, of other processors and compilers too. Throws std::runtime_error where
  /// the folder cannot be used.
  std::vector<KeptSchedule> list() const;

  /// Puts the schedule in the place of what is kept. Throws std::runtime_error where it cannot be
  /// written.
  void keep(const TunedSchedule &schedule);

  enum class Merge { Added, Replaced, Left };
  /// Keeps the schedule unless there is one in its place that gains as much. Throws as keep().
  Merge merge(const TunedSchedule &schedule);

  /// Deletes what was measured with this shape, if anything: for a program whose own passes are the
  /// fastest.
  void forget(const std::string &variant, const std::string &precision, const std::string &shape);

private:
  std::string specificationOf(const TunedSchedule &schedule) const;

  CacheOptions options;
};

/// The file of nb-cache export: JSON, with the schedules and what they are for.
std::string schedulesToJson(const std::vector<KeptSchedule> &schedules);
/// Inverse of schedulesToJson. Throws std::runtime_error naming what is wrong.
std::vector<TunedSchedule> schedulesFromJson(const std::string &text);

} // namespace nanobragg
#endif
