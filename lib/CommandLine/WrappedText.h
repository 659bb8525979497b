// The lines of a help text.
#ifndef NANOBRAGG_COMMANDLINE_WRAPPEDTEXT_H
#define NANOBRAGG_COMMANDLINE_WRAPPEDTEXT_H

#include <string>
#include <string_view>

namespace nanobragg {

/// Breaks at blanks so that no line is longer than `width`, indenting all but the first.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

} // namespace nanobragg
#endif
