// What libnb-hdf5.so exports.
#include "lib/HDF5/Nexus.h"

using namespace nanobragg::io;

namespace {

constexpr Hdf5Module module{NB_VERSION, makeNexusWriter, readNexusImage, readSpectrum};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_hdf5_module() { return &module; }
