// The pixels of an image, some at a time.
#ifndef NB_INTERPRETER_TILES_H
#define NB_INTERPRETER_TILES_H

#include "lib/Interpreter/Observers/Observer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

namespace mlir::nb {

/// The rendered pixels of an image, cut into tiles that do not cross panels.
struct PixelRange {
  int64_t panels = 0, slow = 0, fast = 0;                       ///< extents of the whole image
  int64_t fastMin = 0, fastMax = -1, slowMin = 0, slowMax = -1; ///< inclusive
  const Tensor *mask = nullptr;

  int64_t tiles() const { return tilesPerPanel() * panels; }
  /// The pixels of a tile that the mask leaves.
  void pixelsOf(int64_t tile, TilePixels &pixels) const;
  void write(const TilePixels &pixels, Tensor &image, const double *values, bool varying) const;
  /// Nothing when all numbers make sense together.
  std::optional<std::string> whyNotAnImage() const;
  /// Nothing when the pixel is rendered.
  std::optional<std::string> whyNotRendered(const Pixel &pixel) const;

private:
  int64_t width() const { return std::max<int64_t>(fastMax - fastMin + 1, 0); }
  int64_t perPanel() const { return width() * std::max<int64_t>(slowMax - slowMin + 1, 0); }
  int64_t tilesPerPanel() const { return (perPanel() + tileLanes - 1) / tileLanes; }
  int64_t indexOf(int64_t panel, int64_t s, int64_t f) const {
    return (panel * slow + s) * fast + f;
  }
};

/// The outcomes of the tiles: the first that failed, what the probes saw, how many are done. The
/// outcome is the same for any number of threads.
class TileOutcomes {
public:
  TileOutcomes(int64_t tiles, Frame &root);

  /// True when a tile before this one failed or the run is cancelled.
  bool stopBefore(int64_t tile) const;
  /// The probes of the root, with nothing recorded yet: where a tile records. Empty when
  /// nothing is recorded.
  std::vector<ProbeStatistics> emptyProbes() const;
  /// Adds the records of a tile to the root's probes when all tiles before it are in.
  void finish(int64_t tile, const Frame &frame, std::vector<ProbeStatistics> probes);
  /// Hands a failure to the frame outside the image.
  void conclude();

private:
  void add(std::vector<ProbeStatistics> probes);

  Frame &root;
  const InterpreterOptions &options;
  int64_t tiles, reported = 0;
  std::atomic<int64_t> done{0}, firstFailed;
  std::mutex mutex, reporting;
  Operation *failedAt = nullptr;
  std::string failure;
  int64_t nextToAdd = 0;
  std::map<int64_t, std::vector<ProbeStatistics>> waiting; ///< by tile
};

} // namespace mlir::nb

#endif
