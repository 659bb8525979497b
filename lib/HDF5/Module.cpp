// What libnb-hdf5.so exports.
#include "lib/HDF5/Nexus.h"
#include "lib/IO/ModuleCall.h"

using namespace nanobragg::io;

namespace {

bool open(const std::string &path, const DialsExperiment &experiment, const NexusOptions &options,
          NexusWriter *&writer, std::string &error) {
  return caught(error, [&] { writer = makeNexusWriter(path, experiment, options).release(); });
}

bool write(NexusWriter &writer, std::size_t frame, std::span<const std::byte> pixels,
           std::string &error) {
  return caught(error, [&] { writer.write(frame, pixels); });
}

bool isDone(const NexusWriter &writer, std::size_t frame) { return writer.isDone(frame); }

bool finish(NexusWriter &writer, std::string &error) {
  return caught(error, [&] { writer.finish(); });
}

void close(NexusWriter *writer) { delete writer; }

bool read(const std::string &path, std::size_t frame, NexusImage &image, std::string &error) {
  return caught(error, [&] { image = readNexusImage(path, frame); });
}

bool spectrum(const std::string &path, std::vector<std::array<double, 2>> &points,
              std::string &error) {
  return caught(error, [&] { points = readSpectrum(path); });
}

constexpr Hdf5Module module{NB_VERSION, hasBitshuffle, open, write,   isDone,
                            finish,     close,         read, spectrum};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_hdf5_module() { return &module; }
