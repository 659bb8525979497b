#include "lib/Files/TextColumns.h"

#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

namespace nanobragg::io {

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
