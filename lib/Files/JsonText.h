// JSON that others wrote.
#ifndef NANOBRAGG_FILES_JSONTEXT_H
#define NANOBRAGG_FILES_JSONTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace nanobragg::io {

/// No file that this package knows is nested as deeply. Some parsers call themselves for each
/// level.
constexpr int deepestJson = 200;
/// Lists and objects within each other, at most, as far as brackets tell.
int jsonDepth(std::string_view text);

/// The value of `text`, the content of the file `path`. Throws FileError with the line where the
/// text is no JSON, which ends in `advice`, where it is nested too deeply, and where a number is
/// out of range.
nlohmann::json parseJson(const std::string &path, const std::string &text, const char *advice);

} // namespace nanobragg::io
#endif
