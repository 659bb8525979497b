// The fake driver's device: settings, a log, and an account of all that is on it.
#ifndef NB_TEST_FAKEDEVICE_H
#define NB_TEST_FAKEDEVICE_H

#include "nanobragg/KernelABI.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fake {

using Address = unsigned long long;

enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  UnsupportedPtxVersion = 222,
  NotFound = 500,
  LaunchFailed = 719
};

/// Ends the process with status 99: what no user may do has been done.
[[noreturn]] void wrong(const std::string &what);

/// NUMBER of NAME=NUMBER in NB_FAKE_CUDA.
long long setting(const char *name, long long otherwise);

/// Threads that run in step, 32 where NB_FAKE_CUDA does not say.
inline int warp() { return int(setting("warp", 32)); }

/// A line for NB_FAKE_CUDA_LOG.
void log(const std::string &line);

struct Function {
  struct Module *module;
  bool reduces;
};

struct Module {
  Function entry{this, false}, reduce{this, true};
  bool sums = false; ///< it has been asked for its reducing entry
};

struct Piece {
  std::size_t bytes;
  int device;
};

/// All that the process has on its devices.
struct State {
  std::mutex mutex;
  std::map<Address, Piece> memory;
  std::set<Module *> modules;
  int streams = 0, contexts = 0;
  std::map<int, std::size_t> used; ///< by the device
  std::size_t most = 0;

  ~State(); ///< ends the process unless all is gone
};
extern State state;

extern thread_local std::vector<int> current; ///< devices of contexts, the last one is current
void needContext(const char *function);

std::size_t totalMemory();

/// Ends the process unless all of it is in one piece of the current device's memory.
void checkRange(Address begin, std::size_t bytes, const std::string &what);

template <typename T>
T *onDevice(Address address, std::size_t count, const std::string &what) {
  checkRange(address, count * sizeof(T), what);
  return reinterpret_cast<T *>(address);
}

/// A launch of the module's entry: run_tile of its twin on the device's memory, after all pointers
/// that it follows were checked.
Result render(const Module &module, unsigned blocks, unsigned threads, void **parameters);

} // namespace fake
#endif
