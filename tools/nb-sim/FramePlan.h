// Which frames a series has.
#ifndef NANOBRAGG_NBSIM_FRAMEPLAN_H
#define NANOBRAGG_NBSIM_FRAMEPLAN_H

#include "lib/Runs/ShotTable.h"
#include "tools/shared/RunSetup.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace nanobragg {

/// A crystal on a frame.
struct FrameLattice {
  std::optional<Mat3> matrix; ///< -mat; none where the command line's orientation stays
  ShotLattice own{};          ///< its lattice, beside the frame's command line
  bool there = true;          ///< or outside of its range of the spindle
};

/// The part of a frame that the command line does not say.
struct Frame {
  CommandLine line; ///< for a run of its own
  std::vector<FrameLattice> lattices;
};

/// Frames of --frames, of --shots, or of lattices that share one image.
class FramePlan {
public:
  /// Reads --shots. Throws UsageError, io::FileError.
  explicit FramePlan(const RunSetup &setup);

  std::int64_t count() const { return frames; }
  /// Each with its own rotation and orientation? Then no scan describes them.
  bool stills() const { return !shots.empty() || !experiments.empty(); }
  Frame frame(std::int64_t index) const;          ///< from 0
  std::size_t lattices(std::int64_t index) const; ///< how many frame(index) has
  /// The shots of a table or of distributions; empty without.
  const std::vector<Shot> &table() const { return shots; }

private:
  void readShots(const std::string &path);
  void readExperiments(const std::string &path);
  void readLattices(const std::string &path);

  const RunSetup &setup;
  std::int64_t frames = 1;
  double phi = 0, osc = 0; ///< degrees
  std::int64_t seed = 0;
  std::vector<Shot> shots;                                   ///< from a table, or drawn
  std::vector<std::vector<io::DialsExperiment>> experiments; ///< lattices of each shot
  std::vector<ShotLattice> sharing;                          ///< on all images, of --lattices
};

/// Whether a command line asks for more than one image, or for more than one crystal.
bool isSeries(const RunSetup &setup);

} // namespace nanobragg
#endif
