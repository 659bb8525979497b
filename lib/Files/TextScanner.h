// Lines, words, numbers and columns of a text file.
#ifndef NANOBRAGG_FILES_TEXTSCANNER_H
#define NANOBRAGG_FILES_TEXTSCANNER_H

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg::io {

/// Walks over the lines of a text; LF, CRLF and a last line without an end are all right.
class TextLines {
public:
  explicit TextLines(std::string_view text) : rest(text) {}

  /// False at the end. The line comes without its end and without a `#` comment.
  bool next(std::string_view &line);

  /// For who reads some lines otherwise: what is left, and the beginning of the line after them.
  bool atEnd() const { return rest.empty(); }
  std::string_view remaining() const { return rest; }
  void skipLine(const char *nextLine) {
    rest.remove_prefix(std::size_t(nextLine - rest.data()));
    ++count;
  }

  std::size_t number() const { return count; } ///< the line that next() gave, from 1

private:
  std::string_view rest;
  std::size_t count = 0;
};

/// Takes the next word off `rest`; empty when only delimiters are left.
std::string_view nextWord(std::string_view &rest, std::string_view delimiters);

/// A finite number at the start of [begin, end); null when there is none.
const char *parseNumber(const char *begin, const char *end, double &value);

/// The number that the whole word is, if it is one.
std::optional<double> toNumber(std::string_view word);

/// A word for an error message: in quotes, shortened, without unprintable characters.
std::string inQuotes(std::string_view word);

/// Six significant digits, as printf's %g writes them in the C locale.
std::string shortNumber(double value);

/// Calls visit(line number, numbers) for each line that is not blank, with at most `columns`
/// numbers; what follows them is ignored. Delimiters are blanks, tabs and `,;:!`; a `#` begins a
/// comment. Throws FileError at a word that is not a number.
void forEachRow(const std::string &path, std::string_view text, std::size_t columns,
                const std::function<void(std::size_t, const std::vector<double> &)> &visit);

} // namespace nanobragg::io
#endif
