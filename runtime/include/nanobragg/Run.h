// One run of a program: what is asked of it, and what it tells.
#ifndef NANOBRAGG_RUN_H
#define NANOBRAGG_RUN_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace nanobragg {

enum class PixelType { F32, F64 };

struct PixelIndex {
  std::int64_t panel = 0, slow = 0, fast = 0;
  bool operator==(const PixelIndex &) const = default;
};

/// Asks a run to stop: set from any thread or signal handler, read between tiles.
class CancellationToken {
public:
  void request() noexcept { flag.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return flag.load(std::memory_order_relaxed); }

private:
  std::atomic<bool> flag{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler stores to it");
};

/// A run that has numbers to return was asked to stop before it had them.
class Cancelled : public std::runtime_error {
public:
  Cancelled() : std::runtime_error("the run was cancelled") {}
};

/// The instruments that observe the making of an image, which only the interpreter has.
struct Instruments {
  std::string probe{};      ///< report on values whose names match, with * and ?; empty: none
  bool json = false;        ///< that report as JSON
  bool checkFinite = false; ///< NaN or infinity is an error that says where it first appears

  bool any() const { return !probe.empty() || checkFinite; }
};

/// Numbers in the memory of a GPU.
struct DeviceMemory {
  int kind = 0, number = 0; ///< the GPU, as DLPack counts them: kind 2 is CUDA's, 4 OpenCL's
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::shared_ptr<const void> owner{}; ///< keeps it; null: the caller does
  /// Copies all of a result to the host. Throws std::runtime_error.
  std::function<void(void *to)> copyTo{};
};

struct RunOptions {
  int threads = 0; ///< 0: as many as the simulator's options say, or the machine offers
  std::int64_t rowsPerTile = 0; ///< 0: chosen for balance; sums over pixels have their own
  /// Called with the finished fraction of the image, never decreasing, one call at a time, from
  /// whichever thread finished a tile; the last call of a completed run is 1. Its exceptions end
  /// the run and are passed on.
  std::function<void(double fraction)> progress{};
  double progressInterval = 0.1; ///< s, least time between two calls (the last one excepted)
  /// Tiles (with sums, parts of the image) not yet begun when it is requested are left alone.
  const CancellationToken *cancel = nullptr;
  /// Without, pixels of images that have no light are what they were: sums alone are wanted.
  bool images = true;
  /// On one GPU: numbers of grids, masks and images that are read where they lie, by the names of
  /// parameters, in place of the host's.
  std::map<std::string, DeviceMemory> onDevice{};
  /// On one GPU the image stays in its memory, as RunResult::image, and none goes to the host.
  bool keepImage = false;
};

struct RunResult {
  bool cancelled = false;      ///< the image is incomplete
  double prepareSeconds = 0;   ///< the kernel's tables
  double firstTileSeconds = 0; ///< from the call to the first tile: tables and threads
  double runSeconds = 0;       ///< wall clock, all tiles
  int threads = 1;             ///< used
  std::int64_t workspaceBytes = 0;
  std::int64_t accumulatorBytes = 0; ///< for sums over pixels, for all parts and threads
  std::string report{};              ///< the findings of the instruments
  std::string quadrature{};          ///< with --average=quadrature: how many draws pixels have
  std::string shortfall{};           ///< the part of the request that is not reached; empty: none
  bool culled = false;               ///< samples without light were left out
  /// Then: samples that may have light, and those that were computed, which are whole blocks of
  /// pixels.
  double samplesLit = 0, samplesEvaluated = 0;
  // A run on a GPU has these.
  std::string device{};                ///< its name; empty: the processor
  std::int64_t deviceBytes = 0;        ///< memory there, kept for the next run
  std::int64_t uploadedBytes = 0;      ///< copied there in this run
  std::int64_t launches = 0;           ///< how often the kernel was launched
  double deviceSeconds = 0;            ///< wall clock of the launches, without copies
  std::optional<DeviceMemory> image{}; ///< that was to stay there
};

/// Two engines agree where |kernel - interpreter| <= relative * |interpreter| + ofMaximum *
/// maximum, the latter over all pixels of the interpreter. Without numbers these are 1e-9 and 1e-12
/// in f64, 1e-5 and 1e-7 in mixed, 1e-3 and 1e-4 in f32.
struct ComparisonOptions {
  std::optional<double> relative{}, ofMaximum{};
  bool everyStage = false; ///< interpret the program after each pass even when the engines agree
};

struct EngineComparison {
  bool differ = false; ///< beyond the tolerance
  std::string report{};
};

} // namespace nanobragg
#endif
