// The lists of what is lit, for launches.
#ifndef NANOBRAGG_RUNTIME_GPU_LITBATCHES_H
#define NANOBRAGG_RUNTIME_GPU_LITBATCHES_H

#include "runtime/gpu/ArgumentBlock.h"
#include "runtime/processor/LitTile.h"

#include <vector>

namespace nanobragg::gpu {

/// The further arguments of a culled kernel's launch: a tile and its lists, in
/// which addresses are missing until it is known where they will lie.
class LitBatch {
public:
  std::int64_t blocks() const { return count; }
  std::size_t bytes() const { return content.bytes(); }
  /// As they are to be copied to this address.
  const void *placedAt(Address address);
  Address tile(Address address) const { return address + tileAt; }

private:
  friend class LitBatches;
  std::int64_t count = 0;
  ArgumentBlock content;
  std::size_t tileAt = 0, litAt = 0, listAt[8] = {};
};

/// Rows of an image, a launch after the other. They depend on sizes and numbers only, so that sums
/// are the same bits for any number of threads.
class LitBatches {
public:
  /// After prepare. The team looks for what is lit. A panel is as many launches as `wanted`, or
  /// more.
  LitBatches(const nb_kernel_descriptor &kernel, const void *const *arguments,
             const void *workspace, const ImageShape &shape, ThreadTeam &team, std::int64_t wanted);

  std::size_t size() const { return parts.size(); }
  /// Its rows, for progress.
  const nb_tile &rows(std::size_t i) const { return parts[i]; }
  LitBatch make(std::size_t i);

  /// Samples of all batches that have been made, as RunResult has them.
  double samplesLit() const;
  double samplesEvaluated() const;

private:
  struct Lists;
  ThreadTeam &team;
  Reach reach;
  std::vector<LitTile> ofThread;
  std::vector<nb_tile> parts;
};

} // namespace nanobragg::gpu
#endif
