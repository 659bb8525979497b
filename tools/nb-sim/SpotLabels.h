// Where the reflections of a run are: --write-refl, --write-stream.
#ifndef NANOBRAGG_NBSIM_SPOTLABELS_H
#define NANOBRAGG_NBSIM_SPOTLABELS_H

#include "lib/Spots/CrystfelStream.h"
#include "lib/Spots/ReflectionTable.h"
#include "tools/shared/RunSetup.h"

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace nanobragg {

/// Collects the spots of each image and writes both files at the end.
class SpotLabels {
public:
  /// Opens the files that the command line names. Throws io::FileError.
  SpotLabels(const RunSetup &setup, std::int64_t images, bool stills);

  bool wanted() const { return table || stream; }

  /// One lattice's part of an image. `model`: simulatedExperiment of that image.
  void add(std::int64_t image, const CompleteExperiment &complete, const io::DialsExperiment &model,
           std::span<const float> photons);

  struct ImageName {
    std::string file, event;
  };
  /// `name(i)`: of image i, from 0. `firstImage`: of the scan, counted from 0.
  void write(const std::function<ImageName(std::int64_t)> &name, std::int64_t firstImage = 0);
  void publish();

  std::vector<std::string> names() const;

private:
  struct Lattices {
    SpotSize size;
    std::vector<StreamCrystal> crystals;
  };
  std::vector<TableRow> rows(std::int64_t firstImage) const;

  bool stills;
  std::int64_t frameSlow;
  bool nexus; ///< the images are in one HDF5 file
  std::optional<io::OutputFile> table, stream;
  std::mutex mutex;
  std::vector<Lattices> images;
};

} // namespace nanobragg
#endif
