// Crystallographers' files that hold no structure factors that are read here.
#ifndef NANOBRAGG_FORMATS_FOREIGNFORMATS_H
#define NANOBRAGG_FORMATS_FOREIGNFORMATS_H

#include <string>
#include <string_view>

namespace nanobragg::io {

/// Throws FileError with the file's format and the way to convert it, where it has one of other
/// programs.
void refuseForeignFormat(const std::string &path, std::string_view content);

} // namespace nanobragg::io
#endif
