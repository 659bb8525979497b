#include "lib/CommandLine/WrappedText.h"

#include <algorithm>

namespace nanobragg {

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result, row;
  const std::string margin(indent, ' ');
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find(' ', i), text.size());
    const std::string word(text.substr(i, end - i));
    if (!row.empty() && indent + row.size() + 1 + word.size() > width) {
      result += row + "\n" + margin;
      row = word;
    } else {
      row += (row.empty() ? "" : " ") + word;
    }
    i = end + 1;
  }
  return result + row;
}

} // namespace nanobragg
