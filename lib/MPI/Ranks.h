// The processes that an MPI launcher has started together.
#ifndef NANOBRAGG_MPI_RANKS_H
#define NANOBRAGG_MPI_RANKS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

/// A launcher (mpirun, srun) with more than one process, as the environment tells.
struct Launch {
  const char *variable; ///< that says so
  int size;
};
/// None without a launcher, and where it started one process.
std::optional<Launch> launch();

/// All calls are of the thread that opened it. An error of MPI ends all processes, as is its rule.
class Ranks {
public:
  /// Leaves MPI; waits for the others.
  virtual ~Ranks() = default;

  virtual int rank() const = 0; ///< from 0
  virtual int size() const = 0;
  virtual int rankHere() const = 0; ///< among those of the same machine
  virtual int sizeHere() const = 0;

  /// The text of rank 0, on all.
  virtual void broadcast(std::string &text) = 0;
  /// Each rank's text, on rank 0; empty on the others.
  virtual std::vector<std::string> gather(const std::string &text) = 0;
  /// 0, 1, 2 and so on: each number goes to one rank. From the first call on, only next(),
  /// finished() and abort() may be called until arrived() has returned true.
  virtual std::int64_t next() = 0;
  /// Adds to the number of what all have finished. Returns it on rank 0, where it may be as old as
  /// the other ranks' last calls of next().
  virtual std::int64_t finished(std::int64_t more) = 0;
  /// Waits until all ranks are here, with no more calls of next(). Returns false when `seconds`
  /// have passed before: call it again.
  virtual bool arrived(double seconds) = 0;
  /// Waits until all ranks of this machine are here.
  virtual void meetHere() = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abort(int status) = 0;
};

/// Starts MPI in libnb-mpi.so. Throws std::runtime_error where there is no such library, or where
/// its MPI is not that of the launcher.
std::unique_ptr<Ranks> openRanks(const Launch &launch);

/// The functions of libnb-mpi.so.
struct MpiModule {
  const char *version;
  Ranks *(*open)();
  const char *(*library)(); ///< which MPI it is
};

} // namespace nanobragg
#endif
