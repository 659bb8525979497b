#include "lib/IO/NexusFile.h"

#include "lib/IO/Module.h"
#include "lib/IO/ModuleCall.h"
#include "lib/IO/OutputPath.h"
#include "lib/IO/TemporaryName.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

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

/// A writer of the library, whose errors are thrown here.
class WriterThere : public NexusWriter {
public:
  explicit WriterThere(NexusWriter *writer) : writer(writer) {}
  ~WriterThere() override { hdf5Module().close(writer); }

  void write(std::size_t frame, std::span<const std::byte> pixels) override {
    rethrown([&](std::string &error) { return hdf5Module().write(*writer, frame, pixels, error); });
  }
  bool isDone(std::size_t frame) const override { return hdf5Module().isDone(*writer, frame); }
  void finish() override {
    rethrown([&](std::string &error) { return hdf5Module().finish(*writer, error); });
  }

private:
  NexusWriter *writer;
};

} // namespace

std::unique_ptr<NexusWriter> openNexus(const std::string &path, const DialsExperiment &experiment,
                                       const NexusOptions &options) {
  NexusWriter *writer = nullptr;
  rethrown([&](std::string &error) {
    return hdf5Module().open(path, experiment, options, writer, error);
  });
  return std::make_unique<WriterThere>(writer);
}

void joinNexus(const std::string &path, const DialsExperiment &experiment,
               const NexusOptions &options) {
  const std::string temporary = directoryOf(path) + newTemporaryName();
  openNexus(temporary, experiment, options)->finish();
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary.c_str());
    throw FileError(path, std::string("cannot be put into place: ") + std::strerror(error));
  }
}

bool canBitshuffle() { return hdf5Module().hasBitshuffle(); }

bool isHdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }

NexusImage readNexus(const std::string &path, std::size_t frame) {
  NexusImage image;
  rethrown([&](std::string &error) { return hdf5Module().read(path, frame, image, error); });
  return image;
}

std::vector<std::array<double, 2>> readNexusSpectrum(const std::string &path) {
  std::vector<std::array<double, 2>> spectrum;
  rethrown([&](std::string &error) { return hdf5Module().spectrum(path, spectrum, error); });
  return spectrum;
}

} // namespace nanobragg::io
