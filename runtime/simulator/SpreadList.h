// Light that reaches a list of pixels.
//
// A spread of shoeboxes needs the photons of their pixels and of a margin as wide as the radius,
// and nothing else of a detector.
#ifndef NANOBRAGG_SIMULATOR_SPREADLIST_H
#define NANOBRAGG_SIMULATOR_SPREADLIST_H

#include "nanobragg/Run.h"

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/PixelList.h"
#include "lib/Response/PointSpread.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

class SpreadList {
public:
  /// `listed` says which of the pixels are rendered; the others are 0. The experiment is that of
  /// the list.
  SpreadList(const Experiment &experiment, const ListedPixels &listed,
             std::span<const PixelIndex> pixels);

  /// The pixels whose photons reach those of the list, each once, by panel, slow, fast; one at
  /// least.
  const std::vector<PixelIndex> &sources() const { return from; }

  /// The light of each listed pixel, from the photons of the sources. The same for any number of
  /// threads, as is the transpose.
  std::vector<double> gather(const PointSpreadFunction &spread, std::span<const double> photons,
                             int threads) const;
  /// The transpose: what each source gets of numbers of the listed pixels.
  std::vector<double> scatter(const PointSpreadFunction &spread, std::span<const double> pixels,
                              int threads) const;

private:
  /// A rectangle with listed pixels that are near each other, and all light that reaches them.
  struct Patch {
    struct Listed {
      std::size_t number; ///< in the list
      std::size_t place;  ///< in the rectangle
    };
    /// Pixels of one of its rows, and where they are among the sources.
    struct Run {
      std::size_t place;
      std::size_t length;
      std::size_t source;
    };
    std::int64_t panel = 0;
    std::int64_t fastMin = 0, fastEnd = 0, slowMin = 0, slowEnd = 0;
    PixelBox box; ///< in it, with all listed pixels
    std::vector<Listed> listed;
    std::vector<Run> runs; ///< pixels whose light reaches a listed one

    std::int64_t fastPixels() const { return fastEnd - fastMin; }
    std::int64_t slowPixels() const { return slowEnd - slowMin; }
    std::size_t pixels() const { return std::size_t(fastPixels() * slowPixels()); }
  };

  void makePatches(const Experiment &experiment, const ListedPixels &listed,
                   std::span<const PixelIndex> pixels);
  void findSources(std::int64_t radius, std::int64_t slowPixels, std::int64_t fastPixels);

  std::size_t count; ///< pixels of the list
  std::vector<Patch> patches;
  std::vector<PixelIndex> from;
};

} // namespace nanobragg
#endif
