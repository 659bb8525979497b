// Which frames of a series a process makes.
#ifndef NANOBRAGG_NBSIM_FRAMEDEAL_H
#define NANOBRAGG_NBSIM_FRAMEDEAL_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/MPI/Ranks.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace nanobragg {

/// A process alone makes all that are open, a shard those of its remainder, or those that whoever
/// started it deals it by --deal. Ranks take the next one
/// whenever they are free, those with the largest cost first: what is left at the end is small, and
/// nobody waits long for it.
class FrameDeal {
public:
  /// Frames count from 0. `isDone` and `cost` (in any unit) of a frame; with ranks the first one's
  /// answers are those of all.
  FrameDeal(std::int64_t frames, const std::function<bool(std::int64_t)> &isDone,
            const std::function<double(std::int64_t)> &cost, const SeriesOptions &series,
            Ranks *ranks);

  /// Throws std::runtime_error where the dealer does not answer.
  std::optional<std::int64_t> next();
  /// Frames that nobody has to make.
  std::int64_t done() const { return finished; }
  /// Frames that are others' business, those of other shards.
  std::int64_t others() const { return elsewhere; }

private:
  std::optional<std::int64_t> dealt();

  std::vector<std::int64_t> open; ///< in the order of making, but for dealt ones
  std::optional<int> dealer;
  Ranks *ranks;
  std::int64_t finished = 0, elsewhere = 0;
  std::size_t taken = 0;
};

} // namespace nanobragg
#endif
