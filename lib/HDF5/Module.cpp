// The functions that libnb-hdf5.so exports.
#include "lib/Files/ModuleCall.h"
#include "lib/HDF5/CheckedDataset.h"
#include "lib/HDF5/Nexus.h"
#include "lib/HDF5/NexusToGoOnWith.h"
#include "lib/Process/Isolated.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <hdf5.h>
#include <type_traits>
#include <unistd.h>

using namespace nanobragg::io;

namespace {

/// HDF5 prints its failures otherwise; each thread has a setting of its own.
void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

template <typename Action>
bool quietly(std::string &error, Action &&action) {
  silence();
  return caught(error, action);
}

bool bitshuffle() {
  silence();
  return hasBitshuffle();
}

bool write(NexusWriter &writer, std::size_t frame, std::span<const std::byte> pixels,
           std::string &error) {
  return quietly(error, [&] { writer.write(frame, pixels); });
}

bool isDone(const NexusWriter &writer, std::size_t frame) {
  silence();
  return writer.isDone(frame);
}

bool finish(NexusWriter &writer, std::string &error) {
  return quietly(error, [&] { writer.finish(); });
}

void close(NexusWriter *writer) {
  silence();
  delete writer;
}

/// Values as bytes, from a process to its parent.
template <typename T>
void put(std::string &text, const T *values, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  text.append(reinterpret_cast<const char *>(values), count * sizeof(T));
}

/// HDF5 itself has faults that a damaged file meets, so that it reads in a process of its own: what
/// crashes there, or takes more time or memory than the file is worth, is a refusal.
bool isolated(const std::string &path, std::string &bytes, std::string &error,
              const std::function<void(std::string &)> &read) {
  std::error_code none;
  const double size = double(std::filesystem::file_size(path, none));
  const nanobragg::IsolatedResult result = nanobragg::runIsolated(
      [&] {
        if (const int null = ::open("/dev/null", O_WRONLY); null >= 0)
          ::dup2(null, STDERR_FILENO);
        std::string made, problem;
        return quietly(problem, [&] { read(made); }) ? "+" + made : "-" + problem;
      },
      {10 + size / 1e7, 2e9 + 4 * CheckedDataset::mostBytes(size)});
  if (result.bytes.empty() || !result.problem.empty())
    error = FileError(path, "cannot be read by HDF5, which " +
                                (result.problem.empty() ? "says nothing" : result.problem) +
                                "; it is damaged")
                .what();
  else if (result.bytes[0] != '+')
    error = result.bytes.substr(1);
  else
    bytes = result.bytes.substr(1);
  return error.empty();
}

bool open(const std::string &path, const DialsExperiment &experiment, const NexusOptions &options,
          NexusWriter *&writer, std::string &error) {
  std::string nothing;
  const auto tried = [&](std::string &) {
    tryToGoOnWith(path, options, options.frameSlow * experiment.panels.size());
  };
  return (!options.resume || isolated(path, nothing, error, tried)) &&
         quietly(error, [&] { writer = makeNexusWriter(path, experiment, options).release(); });
}

bool read(const std::string &path, std::size_t frame, NexusImage &image, std::string &error) {
  std::string bytes;
  return isolated(path, bytes, error,
                  [&](std::string &made) {
                    const NexusImage found = readNexusImage(path, frame);
                    const std::size_t sizes[] = {found.slow, found.fast};
                    put(made, sizes, 2);
                    put(made, &found.undefined, 1);
                    put(made, found.pixels.data(), found.pixels.size());
                  }) &&
         caught(error, [&] {
           std::size_t sizes[2];
           double undefined = 0;
           constexpr std::size_t header = sizeof sizes + sizeof undefined;
           std::memcpy(sizes, bytes.data(), sizeof sizes);
           std::memcpy(&undefined, bytes.data() + sizeof sizes, sizeof undefined);
           image = {sizes[0], sizes[1], undefined, {}};
           image.pixels.resize((bytes.size() - header) / sizeof(double));
           bytes.copy(reinterpret_cast<char *>(image.pixels.data()), bytes.size() - header, header);
         });
}

bool spectrum(const std::string &path, std::optional<std::size_t> shot,
              std::vector<std::array<double, 2>> &points, std::string &error) {
  std::string bytes;
  return isolated(path, bytes, error,
                  [&](std::string &made) {
                    const auto found = readSpectrum(path, shot);
                    put(made, found.data(), found.size());
                  }) &&
         caught(error, [&] {
           points.resize(bytes.size() / sizeof points[0]);
           bytes.copy(reinterpret_cast<char *>(points.data()), bytes.size());
         });
}

bool numbers(const std::string &path, const std::string &name, NumberBlock &block,
             std::string &error) {
  std::string bytes;
  return isolated(path, bytes, error,
                  [&](std::string &made) {
                    const NumberBlock found = readNumbers(path, name);
                    const std::size_t rank = found.size.size();
                    put(made, &rank, 1);
                    put(made, found.size.data(), rank);
                    put(made, found.values.data(), found.values.size());
                  }) &&
         caught(error, [&] {
           std::size_t rank = 0;
           std::memcpy(&rank, bytes.data(), sizeof rank);
           const std::size_t begin = (1 + rank) * sizeof rank;
           block.size.resize(rank);
           bytes.copy(reinterpret_cast<char *>(block.size.data()), begin - sizeof rank,
                      sizeof rank);
           block.values.resize((bytes.size() - begin) / sizeof(double));
           bytes.copy(reinterpret_cast<char *>(block.values.data()), bytes.size() - begin, begin);
         });
}

bool tree(const std::string &path, std::string &text, std::string &error) {
  return isolated(path, text, error, [&](std::string &made) { made = readTree(path); });
}

constexpr Hdf5Module module{NB_VERSION, bitshuffle, open,     write,   isDone, finish,
                            close,      read,       spectrum, numbers, tree};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_hdf5_module() {
  // HDF5 closes what is open when the process ends, and crashes on a file that it could not write.
  H5dont_atexit();
  return &module;
}
