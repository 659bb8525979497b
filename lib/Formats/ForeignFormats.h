// Crystallographers' files of another format than the one that is wanted.
#ifndef NANOBRAGG_FORMATS_FOREIGNFORMATS_H
#define NANOBRAGG_FORMATS_FOREIGNFORMATS_H

#include <string>
#include <string_view>

namespace nanobragg::io {

/// Where structure factors are wanted: throws FileError with the file's format and the way to
/// convert it, where it has one of other programs.
void refuseForeignFormat(const std::string &path, std::string_view content);

/// Throws FileError where an experiment list is wanted and this is another file that belongs to
/// one: a reflection table, or an image.
void refuseOtherThanExperiments(const std::string &path, std::string_view content);

} // namespace nanobragg::io
#endif
