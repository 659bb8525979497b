#include "lib/Files/TextScanner.h"

#include "lib/Files/FileError.h"
#include "lib/Quantities/Printable.h"

#include <charconv>
#include <cmath>

namespace nanobragg::io {

bool TextLines::next(std::string_view &line) {
  if (rest.empty())
    return false;
  const std::size_t end = rest.find('\n');
  line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  ++count;
  line = line.substr(0, line.find('#'));
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return true;
}

std::string_view nextWord(std::string_view &rest, std::string_view delimiters) {
  const std::size_t begin = rest.find_first_not_of(delimiters);
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  const std::size_t end = rest.find_first_of(delimiters, begin);
  const std::string_view word = rest.substr(begin, end - begin);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
  return word;
}

const char *parseNumber(const char *begin, const char *end, double &value) {
  if (begin != end && *begin == '+') {
    ++begin;
    if (begin != end && *begin == '-')
      return nullptr;
  }
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc{} && std::isfinite(value) ? stop : nullptr;
}

std::optional<double> toNumber(std::string_view word) {
  double value = 0;
  const char *end = word.data() + word.size();
  if (parseNumber(word.data(), end, value) != end || word.empty())
    return std::nullopt;
  return value;
}

std::string inQuotes(std::string_view word) {
  constexpr std::size_t longest = 40;
  return "'" + printable(word.substr(0, longest)) + (word.size() > longest ? "...'" : "'");
}

std::string shortNumber(double value) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 6).ptr;
  return {buffer, end};
}

void forEachRow(const std::string &path, std::string_view text, std::size_t columns,
                const std::function<void(std::size_t, const std::vector<double> &)> &visit) {
  TextLines lines(text);
  std::string_view line;
  std::vector<double> row;
  while (lines.next(line)) {
    row.clear();
    while (row.size() < columns) {
      const std::string_view word = nextWord(line, " \t\v\f,;:!");
      if (word.empty())
        break;
      const std::optional<double> value = toNumber(word);
      if (!value)
        throw FileError(path, lines.number(),
                        "column " + std::to_string(row.size() + 1) + " is " + inQuotes(word) +
                            ", not a number; comments begin with #");
      row.push_back(*value);
    }
    if (!row.empty())
      visit(lines.number(), row);
  }
}

} // namespace nanobragg::io
