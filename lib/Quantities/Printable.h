// Text of others in what programs print.
#ifndef NANOBRAGG_QUANTITIES_PRINTABLE_H
#define NANOBRAGG_QUANTITIES_PRINTABLE_H

#include <string>
#include <string_view>

namespace nanobragg {

/// The text in one line that a terminal only prints, with the middle left out of a long one. A ? is
/// in place of each byte or character that is obeyed or not seen: control characters, ends of
/// lines, directions of writing, what is not UTF-8.
std::string printable(std::string_view text, std::size_t longest = 2000);

} // namespace nanobragg
#endif
