// One run of a program: its options and its results.
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

/// Thrown when a run is cancelled before the numbers that it returns are complete.
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
  /// Once it is requested, no further tile (with sums: part of the image) is begun.
  const CancellationToken *cancel = nullptr;
  /// False: only sums are wanted, and pixels without light keep their old values.
  bool images = true;
  /// On one GPU: grids, masks and images in its memory that are used instead of the host's, by the
  /// names of their parameters.
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
  std::string quadrature{}; ///< with --average=quadrature: the numbers of draws of the pixels
  std::string shortfall{};  ///< why the requested accuracy is not reached; empty: it is
  bool culled = false;      ///< samples without light were left out
  /// If culled: samples that may have light, and those that were computed (whole pixel blocks).
  double samplesLit = 0, samplesEvaluated = 0;
  // A run on a GPU has these.
  std::string device{};                ///< its name; empty: the processor
  std::int64_t deviceBytes = 0;        ///< memory there, kept for the next run
  std::int64_t uploadedBytes = 0;      ///< copied there in this run
  std::int64_t launches = 0;           ///< how often the kernel was launched
  double deviceSeconds = 0;            ///< wall clock of the launches, without copies
  std::optional<DeviceMemory> image{}; ///< with RunOptions::keepImage
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
