// The launches of a run, dealt to devices.
#ifndef NANOBRAGG_RUNTIME_GPU_DEAL_H
#define NANOBRAGG_RUNTIME_GPU_DEAL_H

#include "runtime/gpu/LitBatches.h"
#include "runtime/gpu/RunPlan.h"
#include "runtime/processor/Partition.h"
#include "runtime/processor/Progress.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace nanobragg::gpu {

/// All devices of a run take portions of it, one after another, whoever is free. A portion is some
/// consecutive launches and has sums over pixels of its own, which are added in the portions'
/// order: sums are the same bits on any number of devices. Safe to use from several threads.
class Deal {
public:
  /// All outlive it.
  Deal(const nb_kernel_descriptor &kernel, const RunPlan &plan, const void *const *arguments,
       const RenderedRows &rows, const RunOptions &options);

  struct Portion {
    std::size_t number, begin, end; ///< the latter two of its launches
  };
  /// Nothing when there are no more, or the run ends before.
  std::optional<Portion> next();
  std::size_t size() const { return portions; }
  std::size_t launches() const { return lit ? lit->size() : plan.tiles.size(); }
  /// Panel and rows of a launch.
  const nb_tile &tile(std::size_t launch) const {
    return lit ? lit->rows(launch) : plan.tiles[launch];
  }
  /// Null: launches render all samples of their tiles.
  const LitBatches *lists() const { return lit ? &*lit : nullptr; }
  LitBatch makeList(std::size_t launch);

  /// Rows of it that are not merely cleared.
  std::int64_t rowsOf(std::size_t launch) const { return renderedRows(tile(launch), rows); }
  void rendered(std::int64_t rows) { progress.add(rows); }
  /// No more is dealt: a device has failed.
  void stop() { stopped = true; }
  bool stops() const { return stopped || (options.cancel && options.cancel->requested()); }

  /// Where a portion's sums go, on the host.
  void *sumsOf(const Portion &portion) const { return sums[std::int64_t(portion.number)]; }
  void *const *allSums() const { return sums.addresses(); }

private:
  std::int64_t totalRows() const;

  const RunPlan &plan;
  const RenderedRows &rows;
  const RunOptions &options;
  ThreadTeam team;
  std::optional<LitBatches> lit;
  std::mutex making;
  const std::size_t portions;
  const PartMemory sums;
  Progress progress;
  std::atomic<std::size_t> dealt{0};
  std::atomic<bool> stopped{false};
};

} // namespace nanobragg::gpu
#endif
