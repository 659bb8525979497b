// Tables of numbers as text.
#ifndef NANOBRAGG_FILES_TEXTCOLUMNS_H
#define NANOBRAGG_FILES_TEXTCOLUMNS_H

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// Calls visit(line number, numbers) for each line that is not blank, with at most `columns`
/// numbers; what follows them is ignored. Delimiters are blanks, tabs and `,;:!`; a `#` begins a
/// comment. Throws FileError at a word that is not a number.
void forEachRow(const std::string &path, std::string_view text, std::size_t columns,
                const std::function<void(std::size_t, const std::vector<double> &)> &visit);

} // namespace nanobragg::io
#endif
