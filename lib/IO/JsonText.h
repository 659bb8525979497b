// JSON that others wrote.
#ifndef NANOBRAGG_IO_JSONTEXT_H
#define NANOBRAGG_IO_JSONTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nanobragg::io {

/// The value of `text`, the content of the file `path`. Throws FileError with the line where the
/// text is no JSON, which ends in `advice`, and where a number is out of range.
nlohmann::json parseJson(const std::string &path, const std::string &text, const char *advice);

} // namespace nanobragg::io
#endif
