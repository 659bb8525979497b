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

/// A process alone makes all that are open, a shard those of its remainder: one block.
///
/// Ranks, and shards that whoever started them deals to (--deal), take blocks of neighbours
/// whenever they are free: at first an eighth of what would be each one's share of the remaining
/// cost, at the end single frames, the largest cost first. So no worker waits long for the last,
/// questions are few, and what a process makes is few runs of frames, which a virtual data set can
/// hold by the hundred and not by the ten thousand. (Factoring: Hummel, Schonberg and Flynn, CACM
/// 35, 1992.)
class FrameDeal {
public:
  /// Frames count from 0. `isDone` and `cost` (in any unit, above 0) of a frame; with ranks the
  /// first one's answers are those of all.
  FrameDeal(std::int64_t frames, const std::function<bool(std::int64_t)> &isDone,
            const std::function<double(std::int64_t)> &cost, const SeriesOptions &series,
            Ranks *ranks);

  /// Throws std::runtime_error where the dealer does not answer.
  std::optional<std::int64_t> next();
  /// Frames that need not be made.
  std::int64_t done() const { return finished; }
  /// Frames that are others' business, those of other shards.
  std::int64_t others() const { return elsewhere; }

private:
  void makeBlocks(const std::function<double(std::int64_t)> &cost, std::int64_t workers);

  std::vector<std::int64_t> order;         ///< frames, in the order of making
  std::vector<std::int64_t> ends;          ///< ends of blocks, places in `order`
  std::vector<bool> there;                 ///< frames of `order` that are finished; empty: none
  std::function<std::int64_t()> nextBlock; ///< 0, 1, 2 and so on; each goes to one worker
  std::int64_t finished = 0, elsewhere = 0;
  std::size_t place = 0, end = 0; ///< the block at hand
};

} // namespace nanobragg
#endif
