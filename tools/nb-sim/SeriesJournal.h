// What of a series is finished.
#ifndef NANOBRAGG_NBSIM_SERIESJOURNAL_H
#define NANOBRAGG_NBSIM_SERIESJOURNAL_H

#include "lib/CommandLine/CommandLine.h"

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace nanobragg {

/// A text file beside the images of a series, NAME.series: the digest of the command, the seeds
/// that it drew, and the number of each image that has all its files. --resume goes by it.
class SeriesJournal {
public:
  /// With --resume and a file that is there, reads it and sets the seeds of `line` that it does not
  /// give itself; else begins a new one, with seeds drawn where `line` gives none. Throws
  /// UsageError where the file is of another command, io::FileError.
  SeriesJournal(const std::string &path, CommandLine &line, const LoadedInputs &loaded);
  ~SeriesJournal();
  SeriesJournal(const SeriesJournal &) = delete;
  SeriesJournal &operator=(const SeriesJournal &) = delete;

  /// Does it go on with a series that was begun?
  bool goesOn() const { return resumed; }
  bool isDone(std::int64_t image) const { return done.contains(image); } ///< counted from 1
  /// Notes an image whose files have their names. Any thread.
  void finish(std::int64_t image);

private:
  bool read(const std::string &digest, CommandLine &line);
  void append(const std::string &text);

  std::string path;
  int descriptor = -1;
  bool resumed = false;
  std::set<std::int64_t> done;
  std::mutex mutex;
};

} // namespace nanobragg
#endif
