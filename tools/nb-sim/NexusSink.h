// The frames of a series in one HDF5 file.
#ifndef NANOBRAGG_NBSIM_NEXUSSINK_H
#define NANOBRAGG_NBSIM_NEXUSSINK_H

#include "lib/Formats/NexusFile.h"
#include "tools/nb-sim/Noise.h"
#include "tools/nb-sim/SeriesJournal.h"

#include <functional>
#include <memory>
#include <string>

namespace nanobragg {

/// The file of --nexus. Each part of a series has a file of its own, and --nexus is a view of them.
class NexusSink {
public:
  /// `first`: what DIALS is told of the first frame, or of all of a scan. `journal`: null for one
  /// image. Throws io::FileError.
  NexusSink(const RunSetup &setup, std::int64_t frames, bool stills, const SeriesJournal *journal,
            io::DialsExperiment first);

  /// Is the frame there that the journal says a part has finished?
  bool has(std::int64_t frame, int finishedBy) const;
  /// Any thread.
  void write(std::int64_t frame, const RenderedImage &image, const CommandLine &line,
             const CompleteExperiment &complete);
  void finish() { own->finish(); }

  /// Shows the finished frames of all parts as one file. Who finished which is asked again, until
  /// no part has finished more meanwhile; `usable` says whether a part has a file.
  using Finished = std::function<FinishedImages(const std::function<bool(int)> &usable)>;
  void join(const Finished &finished);

  void printNames() const;

private:
  std::string nameOf(int which) const; ///< the file with the frames of a part
  bool isThere(int which) const;
  void keepFileOfOne(const SeriesJournal &journal) const;

  const std::string name;
  const io::DialsExperiment first;
  const int part;
  io::NexusOptions options;
  std::unique_ptr<io::NexusWriter> own;
  std::size_t joined = 0; ///< frames in the view
};

} // namespace nanobragg
#endif
