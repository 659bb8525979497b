// What libnb-mpi.so exports.
#include "lib/MPI/Ranks.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <algorithm>
#include <mpi.h>
#include <thread>

using namespace nanobragg;

namespace {

/// Counters lie in the memory of rank 0, where any rank adds to them without its help.
class MpiRanks final : public Ranks {
public:
  MpiRanks() {
    // Open MPI's plugins look for its symbols among those that all libraries see.
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(&MPI_Init_thread), &info) != 0)
      dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &ownHere);
    MPI_Comm_size(machine, &allHere);
    if (all == 1)
      return; // another MPI's launcher: there will be no work together
    MPI_Win_allocate(own == 0 ? MPI_Aint(2 * sizeof(std::int64_t)) : 0, sizeof(std::int64_t),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &counters, &window);
    if (own == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      counters[0] = counters[1] = 0;
      MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
  }

  ~MpiRanks() override {
    if (all > 1) {
      MPI_Win_unlock_all(window);
      MPI_Win_free(&window);
    }
    MPI_Comm_free(&machine);
    MPI_Finalize();
  }

  int rank() const override { return own; }
  int size() const override { return all; }
  int rankHere() const override { return ownHere; }
  int sizeHere() const override { return allHere; }

  void broadcast(std::string &text) override {
    std::int64_t bytes = std::int64_t(text.size());
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    text.resize(std::size_t(bytes));
    for (std::size_t at = 0; at < text.size(); at += most)
      MPI_Bcast(text.data() + at, int(std::min(most, text.size() - at)), MPI_CHAR, 0,
                MPI_COMM_WORLD);
  }

  std::vector<std::string> gather(const std::string &text) override {
    const std::int64_t bytes = std::int64_t(text.size());
    std::vector<std::int64_t> sizes(own == 0 ? std::size_t(all) : 0);
    MPI_Gather(&bytes, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    if (own != 0) {
      for (std::size_t at = 0; at < text.size(); at += most)
        MPI_Send(text.data() + at, int(std::min(most, text.size() - at)), MPI_CHAR, 0, 0,
                 MPI_COMM_WORLD);
      return texts;
    }
    texts.push_back(text);
    for (int from = 1; from < all; ++from) {
      std::string &there = texts.emplace_back(std::size_t(sizes[std::size_t(from)]), '\0');
      for (std::size_t at = 0; at < there.size(); at += most)
        MPI_Recv(there.data() + at, int(std::min(most, there.size() - at)), MPI_CHAR, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return texts;
  }

  std::int64_t next() override { return add(0, 1); }
  std::int64_t finished(std::int64_t more) override { return add(1, more) + more; }

  bool arrived(double seconds) override {
    if (!arriving) {
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
      arriving = true;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!isOver(barrier))
      if (std::chrono::steady_clock::now() > until)
        return false;
    arriving = false;
    return true;
  }

  void meetHere() override {
    MPI_Request met{};
    MPI_Ibarrier(machine, &met);
    while (!isOver(met)) {
    }
  }

  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

private:
  static constexpr std::size_t most = 1 << 30; ///< bytes of a message, which counts in int

  std::int64_t add(int counter, std::int64_t more) {
    std::int64_t before = 0;
    MPI_Fetch_and_op(&more, &before, MPI_INT64_T, 0, counter, MPI_SUM, window);
    MPI_Win_flush(0, window);
    return before;
  }

  /// Waits a little, asleep and not in MPI_Wait, which would keep a processor busy that others may
  /// share.
  static bool isOver(MPI_Request &request) {
    int over = 0;
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    if (!over)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return over != 0;
  }

  int own = 0, all = 1, ownHere = 0, allHere = 1;
  MPI_Comm machine{};
  std::int64_t *counters = nullptr;
  MPI_Win window{};
  MPI_Request barrier{};
  bool arriving = false;
};

Ranks *open() { return new MpiRanks; }

const char *library() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  // Of some it is a page; the first words say enough.
  const std::string all(text);
  const std::size_t end = std::min(all.find_first_of(",\n"), all.size());
  text[end] = '\0';
  return text;
}

constexpr MpiModule module{NB_VERSION, open, library};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_mpi_module() { return &module; }
