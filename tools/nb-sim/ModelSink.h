// The models and spots of a series: .expt, .refl, .stream.
#ifndef NANOBRAGG_NBSIM_MODELSINK_H
#define NANOBRAGG_NBSIM_MODELSINK_H

#include "lib/Files/OutputFile.h"
#include "tools/nb-sim/FrameFiles.h"
#include "tools/nb-sim/FrameRenderer.h"
#include "tools/nb-sim/SpotLabels.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

class ModelSink {
public:
  /// `part`: under whose names spots are written. `leads`: does this process write what there is
  /// one of, `writesSpots`: does it write its spots? Throws io::FileError.
  ModelSink(const RunSetup &setup, const FramePlan &plan, const FrameFiles &files, int part,
            bool leads, bool writesSpots);

  /// Spots are summed on the pixels of a frame, so that it is rendered though its files are there.
  bool needsAllFrames() const { return spots.wanted(); }
  /// A rendered frame before its lattices are added up. Any thread.
  void add(std::int64_t frame, const RenderedFrame &rendered, const FrameRenderer &renderer);

  /// The spots that this process has added, for take() of another one.
  std::string packed() const { return spots.packed(); }
  void take(const std::string &packed, FrameRenderer &renderer);

  /// `first`: the first frame's lattices, of the scan of all frames if there is one.
  void write(const std::vector<io::DialsExperiment> &first, FrameRenderer &renderer);
  /// The names of the files with spots.
  std::vector<std::string> names() const { return spots.names(); }

private:
  void writeExpt(const std::vector<io::DialsExperiment> &first);

  const RunSetup &setup;
  const FramePlan &plan;
  const FrameFiles &files;
  const bool writesSpots;
  std::optional<io::OutputFile> expt;
  SpotLabels spots;
  std::vector<std::vector<io::DialsExperiment>> stills; ///< the lattices of each; for .expt alone
};

} // namespace nanobragg
#endif
