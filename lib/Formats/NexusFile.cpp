#include "lib/Formats/NexusFile.h"

#include "lib/Files/Module.h"
#include "lib/Files/ModuleCall.h"
#include "lib/Files/OutputFile.h"
#include "lib/Files/WriteLock.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace nanobragg::io {
namespace {

const Hdf5Module &hdf5Module() {
  static const Hdf5Module &module = []() -> const Hdf5Module & {
    const auto *found = static_cast<const Hdf5Module *>(
        openModule("libnb-hdf5.so", "nb_hdf5_module", "HDF5 files"));
    if (std::strcmp(found->version, NB_VERSION) != 0)
      throw std::runtime_error(std::string("libnb-hdf5.so is of version ") + found->version +
                               " and this program of " NB_VERSION "; install both together");
    return *found;
  }();
  return module;
}

/// HDF5 locks files too, and not while another descriptor has the lock. Where the environment wants
/// it to, its lock is the one.
bool hdf5Locks() {
  const char *const wanted = std::getenv("HDF5_USE_FILE_LOCKING");
  return wanted && wanted != std::string_view("FALSE") && wanted != std::string_view("0");
}

/// A writer of the library, whose errors are thrown here.
class WriterThere : public NexusWriter {
public:
  WriterThere(const std::string &path, const DialsExperiment &experiment, NexusOptions options) {
    std::error_code ignored;
    options.resume = options.resume && std::filesystem::exists(path, ignored);
    if (options.resume) {
      lock = WriteLock::take(path, WriteLock::Missing::isError);
      if (hdf5Locks())
        lock.unlock();
    } else {
      if (options.parts.empty()) // a view never grows
        WriteLock::refuseIfTaken(path);
      whole.emplace(path);
      if (!whole->isRegular())
        throw FileError(path, "is not a regular file, which HDF5 needs; give the name of a file");
      options.bytes = whole->temporaryPath();
      if (hdf5Locks())
        whole->unlock();
    }
    rethrown([&](std::string &error) {
      return hdf5Module().open(path, experiment, options, writer, error);
    });
    if (whole && !options.complete) {
      lock = WriteLock(path, whole->commitLocked());
      whole.reset();
    }
  }
  ~WriterThere() override {
    if (writer)
      hdf5Module().close(writer);
  }

  void write(std::size_t frame, std::span<const std::byte> pixels) override {
    lock.requireName();
    rethrown([&](std::string &error) { return hdf5Module().write(*writer, frame, pixels, error); });
  }
  bool isDone(std::size_t frame) const override { return hdf5Module().isDone(*writer, frame); }
  void finish() override {
    rethrown([&](std::string &error) { return hdf5Module().finish(*writer, error); });
    if (whole)
      whole->commit();
    lock.requireName();
  }

private:
  std::optional<OutputFile> whole; ///< until it appears
  WriteLock lock;                  ///< once it has appeared
  NexusWriter *writer = nullptr;   ///< closed ahead of both
};

} // namespace

std::unique_ptr<NexusWriter> openNexus(const std::string &path, const DialsExperiment &experiment,
                                       const NexusOptions &options) {
  return std::make_unique<WriterThere>(path, experiment, options);
}

bool canBitshuffle() { return hdf5Module().hasBitshuffle(); }

bool isHdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }

NexusImage readNexus(const std::string &path, std::size_t frame) {
  NexusImage image;
  rethrown([&](std::string &error) { return hdf5Module().read(path, frame, image, error); });
  return image;
}

NumberBlock readHdf5Numbers(const std::string &path, const std::string &name) {
  NumberBlock block;
  rethrown([&](std::string &error) { return hdf5Module().numbers(path, name, block, error); });
  return block;
}

std::string readHdf5Tree(const std::string &path) {
  std::string tree;
  rethrown([&](std::string &error) { return hdf5Module().tree(path, tree, error); });
  return tree;
}

std::vector<std::array<double, 2>> readNexusSpectrum(const std::string &path,
                                                     std::optional<std::size_t> shot) {
  std::vector<std::array<double, 2>> spectrum;
  rethrown([&](std::string &error) { return hdf5Module().spectrum(path, shot, spectrum, error); });
  return spectrum;
}

} // namespace nanobragg::io
