#include "lib/Formats/StolFile.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextColumns.h"

#include <algorithm>

namespace nanobragg::io {

StolTable readStol(const std::string &path) {
  const std::string text = readMaybeCompressed(path);
  struct Line {
    double stol, f;
    std::size_t number;
  };
  std::vector<Line> lines;
  StolTable table;
  forEachRow(path, text, 2, [&](std::size_t number, const std::vector<double> &row) {
    if (row.size() < 2)
      throw FileError(path, number,
                      "the second column is missing; each line needs "
                      "sin(theta)/lambda and F");
    if (!lines.empty() && row[0] < lines.back().stol && table.unsorted == 0)
      table.unsorted = number;
    lines.push_back({row[0], row[1], number});
  });
  if (lines.empty())
    throw FileError(path, "has no data; each line needs sin(theta)/lambda and F");
  std::ranges::stable_sort(lines, {}, &Line::stol);
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (lines[i].stol == lines[i - 1].stol)
      throw FileError(path, lines[i].number,
                      "has the sin(theta)/lambda of line " + std::to_string(lines[i - 1].number) +
                          "; leave one of them out");
  for (const Line &line : lines)
    table.points.push_back({line.stol, line.f});
  return table;
}

} // namespace nanobragg::io
