// The functions that libnb-mpi.so exports.
#include "lib/MPI/Ranks.h"
#include "lib/Parallel/TaskQueue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <thread>

using namespace nanobragg;

namespace {

/// A thread of rank 0 answers the others' questions, while its first thread renders. (A counter in
/// its memory, to which others add by MPI_Fetch_and_op, needs no thread where the network can add.
/// Where it cannot, Open MPI lets them wait until rank 0 has rendered its frame.)
class MpiRanks final : public Ranks {
public:
  MpiRanks() {
    // Open MPI's plugins look for its symbols among those that all libraries see.
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(&MPI_Init_thread), &info) != 0)
      dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    threads = provided >= MPI_THREAD_SERIALIZED;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &ownHere);
    MPI_Comm_size(machine, &allHere);
    others = own == 0 ? all - 1 : 0;
  }

  ~MpiRanks() override {
    if (server)
      server->finish();
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

  std::int64_t next() override {
    if (own == 0) {
      serve();
      return dealt++;
    }
    std::int64_t number = 0;
    MPI_Sendrecv(&unreported, 1, MPI_INT64_T, 0, asks, &number, 1, MPI_INT64_T, 0, asks,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unreported = 0;
    return number;
  }

  std::int64_t finished(std::int64_t more) override {
    if (own == 0)
      return total += more;
    unreported += more;
    return 0;
  }

  bool arrived(double seconds) override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    if (own != 0 && !arriving)
      MPI_Send(&unreported, 1, MPI_INT64_T, 0, ends, MPI_COMM_WORLD);
    unreported = 0;
    serve();
    for (; others > 0; pause()) { // the thread is in MPI until they have no more questions
      if (!threads)
        answer();
      if (std::chrono::steady_clock::now() > until)
        return false;
    }
    if (server)
      server->finish();
    if (!arriving)
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    arriving = true;
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
    const std::lock_guard lock(mpi);
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

private:
  static constexpr std::size_t most = 1 << 30; ///< bytes of a message, which counts in int

  static constexpr int asks = 1, ends = 2; ///< tags

  static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

  /// On rank 0: begins to answer, after which this thread leaves MPI alone until all others have no
  /// more questions.
  void serve() {
    if (!threads)
      answer();
    else if (others > 0 && !server)
      server.emplace(1).add([this] {
        while (others > 0) {
          answer();
          pause();
        }
      });
  }

  /// Those that have asked.
  void answer() {
    const std::lock_guard lock(mpi);
    int asked = 1;
    while (others > 0) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &asked, &status);
      if (!asked)
        return;
      std::int64_t more = 0;
      MPI_Recv(&more, 1, MPI_INT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      total += more;
      if (status.MPI_TAG == ends) {
        --others;
        continue;
      }
      const std::int64_t number = dealt++;
      MPI_Send(&number, 1, MPI_INT64_T, status.MPI_SOURCE, asks, MPI_COMM_WORLD);
    }
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
  bool threads = false; ///< may one of them be in MPI while another is not?
  std::optional<TaskQueue> server;
  std::mutex mpi;
  std::atomic<int> others = 0;         ///< rank 0's: ranks that may ask
  std::atomic<std::int64_t> dealt = 0; ///< rank 0's
  std::atomic<std::int64_t> total = 0; ///< rank 0's: finished by all
  std::int64_t unreported = 0;         ///< finished since rank 0 heard of it
  MPI_Request barrier{};
  bool arriving = false;
};

Ranks *open() { return new MpiRanks; }

const char *library() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  // Some print a page; the first words say enough.
  const std::string all(text);
  const std::size_t end = std::min(all.find_first_of(",\n"), all.size());
  text[end] = '\0';
  return text;
}

constexpr MpiModule module{NB_VERSION, open, library};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_mpi_module() { return &module; }
