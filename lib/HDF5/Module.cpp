// What libnb-hdf5.so exports.
#include "lib/HDF5/Nexus.h"
#include "lib/IO/ModuleCall.h"

#include <hdf5.h>

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

bool open(const std::string &path, const DialsExperiment &experiment, const NexusOptions &options,
          NexusWriter *&writer, std::string &error) {
  return quietly(error, [&] { writer = makeNexusWriter(path, experiment, options).release(); });
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

bool read(const std::string &path, std::size_t frame, NexusImage &image, std::string &error) {
  return quietly(error, [&] { image = readNexusImage(path, frame); });
}

bool spectrum(const std::string &path, std::vector<std::array<double, 2>> &points,
              std::string &error) {
  return quietly(error, [&] { points = readSpectrum(path); });
}

constexpr Hdf5Module module{NB_VERSION, bitshuffle, open, write,   isDone,
                            finish,     close,      read, spectrum};

} // namespace

extern "C" __attribute__((visibility("default"))) const void *nb_hdf5_module() { return &module; }
