// A NeXus file that an earlier run has begun.
#ifndef NANOBRAGG_HDF5_NEXUSTOGOONWITH_H
#define NANOBRAGG_HDF5_NEXUSTOGOONWITH_H

#include "lib/Formats/NexusFile.h"
#include "lib/HDF5/Handle.h"

namespace nanobragg::io {

inline constexpr char noFileToGoOnWith[] =
    "is not an HDF5 file that can be continued; remove it, or leave out --resume";

/// The lock of the file is its caller's (lib/Formats/NexusFile.cpp).
Handle unlockedAccess();

/// The frames of a file, if a writer with these options has made them. Writing must not go
/// elsewhere: no link is followed. Throws FileError.
Handle dataToGoOnWith(hid_t file, const std::string &path, const NexusOptions &options,
                      std::size_t rows);

/// Looks at all of it that going on with it looks at, and changes nothing. For a process of its
/// own, since a damaged file may crash HDF5. Throws FileError.
void tryToGoOnWith(const std::string &path, const NexusOptions &options, std::size_t rows);

} // namespace nanobragg::io
#endif
