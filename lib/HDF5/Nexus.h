// NXmx by way of HDF5.
#ifndef NANOBRAGG_HDF5_NEXUS_H
#define NANOBRAGG_HDF5_NEXUS_H

#include "lib/Formats/NexusFile.h"

#include <optional>

namespace nanobragg::io {

/// Does HDF5 find a plugin for bitshuffle?
bool hasBitshuffle();

std::unique_ptr<NexusWriter> makeNexusWriter(const std::string &path,
                                             const DialsExperiment &experiment,
                                             const NexusOptions &options);
NexusImage readNexusImage(const std::string &path, std::size_t frame);
/// `shot`: where the file has spectra of several.
std::vector<std::array<double, 2>> readSpectrum(const std::string &path,
                                                std::optional<std::size_t> shot = {});
NumberBlock readNumbers(const std::string &path, const std::string &name);
std::string readTree(const std::string &path);

} // namespace nanobragg::io
#endif
