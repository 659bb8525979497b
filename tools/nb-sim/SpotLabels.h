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
  /// Opens the files that the command line names, under the names of `part`; a rank that does not
  /// write, `writes`, opens none. Throws io::FileError.
  SpotLabels(const RunSetup &setup, std::int64_t images, bool stills, int part, bool writes);

  bool wanted() const { return !images.empty(); }

  /// Whether spots are those of tables of reflections, as where the spectrum is continuous.
  static bool takesTable(const CommandLine &line, const Experiment &experiment);
  /// One lattice's part of an image. `model`: simulatedExperiment of that image. `table`: where it
  /// takes one.
  void add(std::int64_t image, const CompleteExperiment &complete, const io::DialsExperiment &model,
           std::span<const float> photons, const ReflectionTable &table);

  /// The spots of all images that were added, for take() of another process of this program.
  std::string packed() const;
  /// `model(i, k)`: as add() had it, of image i and its lattice k.
  void take(const std::string &packed,
            const std::function<io::DialsExperiment(std::int64_t, std::size_t)> &model);

  struct ImageName {
    std::string file, event;
  };
  /// `name(i)`: of image i, from 0. `lattices(i)`: how many it has, where another process made it.
  /// `firstImage`: of the scan, counted from 0.
  void write(const std::function<ImageName(std::int64_t)> &name,
             const std::function<std::size_t(std::int64_t)> &lattices, std::int64_t firstImage = 0);
  void publish();

  std::vector<std::string> names() const;

private:
  struct Lattices {
    SpotSize size;
    std::vector<StreamCrystal> crystals;
  };
  std::vector<TableRow> rows(const std::function<std::size_t(std::int64_t)> &lattices,
                             std::int64_t firstImage) const;

  bool stills;
  std::int64_t frameSlow;
  bool nexus; ///< the images are in one HDF5 file
  std::optional<io::OutputFile> table, stream;
  std::mutex mutex;
  std::vector<Lattices> images;
};

} // namespace nanobragg
#endif
