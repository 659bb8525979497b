#include "lib/IO/NexusFile.h"

#include "lib/IO/Module.h"

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

} // namespace

std::unique_ptr<NexusWriter> openNexus(const std::string &path, const DialsExperiment &experiment,
                                       const NexusOptions &options) {
  return hdf5Module().open(path, experiment, options);
}

bool isHdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }

NexusImage readNexus(const std::string &path, std::size_t frame) {
  return hdf5Module().read(path, frame);
}

std::vector<std::array<double, 2>> readNexusSpectrum(const std::string &path) {
  return hdf5Module().spectrum(path);
}

} // namespace nanobragg::io
