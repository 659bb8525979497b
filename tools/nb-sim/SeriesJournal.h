// The record of the finished part of a series.
#ifndef NANOBRAGG_NBSIM_SERIESJOURNAL_H
#define NANOBRAGG_NBSIM_SERIESJOURNAL_H

#include "lib/Files/WriteLock.h"
#include "lib/MPI/Ranks.h"
#include "lib/Runs/ExperimentOf.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace nanobragg {

/// The part of a process that makes a series alone; those that shards and ranks make count from 0.
constexpr int alone = -1;

/// a.nxs is a.part3.nxs for part 3; as it is for `alone`.
std::string partName(const std::string &name, int part);

/// The name that a single process's a.nxs gets where parts continue its series: a.alone.nxs.
std::string keptName(const std::string &name);

/// Images that are finished, counted from 1, and the part that each is of.
using FinishedImages = std::map<std::int64_t, int>;

/// A text file beside the images of a series, NAME.series: the digest of the command and its
/// flags, the seeds that it drew, and the number of each image that has all its files. Each shard
/// and each rank has one of its own, NAME.part3.series. --resume goes by all of them.
class SeriesJournal {
public:
  /// With --resume and files that are there, reads them and sets the seeds of `line` that it does
  /// not give itself; else begins anew, with seeds where `line` gives none: drawn, but those of
  /// shards follow from the command, since no shard knows of the others. Where ranks work together
  /// the first does so for all. Throws UsageError where a file is of another command,
  /// io::FileError, also where another run is at work on the series: then nothing has changed.
  SeriesJournal(const std::string &path, CommandLine &line, const LoadedInputs &loaded,
                Ranks *ranks);
  ~SeriesJournal();
  SeriesJournal(const SeriesJournal &) = delete;
  SeriesJournal &operator=(const SeriesJournal &) = delete;

  /// Has this part finished images that it goes on with?
  bool goesOn() const { return ownBefore; }
  /// The part that this process makes.
  int part() const { return ownPart; }
  /// Those that were finished when this one began.
  const FinishedImages &finishedBefore() const { return before; }
  /// Those that are finished now, by the files of all `usable` parts with the same command and
  /// seeds.
  FinishedImages finishedByAll(const std::function<bool(int)> &usable) const;
  /// Notes an image whose files have their names. Any thread.
  void finish(std::int64_t image);

private:
  void lock(bool shard);
  void removeEmpty() const;
  void begin(const std::vector<std::string> &parts, CommandLine &line);
  bool read(const std::vector<std::string> &parts, CommandLine &line);
  void removeOthers(const CommandLine &line) const;
  std::string shared(const CommandLine &line) const;
  void takeShared(const std::string &text, CommandLine &line);
  void append(const std::string &text);

  std::string series; ///< the journal of a process alone
  std::string path;   ///< the journal of this one
  std::string head;   ///< its first lines
  int ownPart = alone;
  bool resumed = false, ownBefore = false;
  std::map<int, io::WriteLock>
      locks; ///< its own part's, and those of others that must not be at work
  FinishedImages before;
  std::mutex mutex;
};

} // namespace nanobragg
#endif
