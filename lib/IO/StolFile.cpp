#include "lib/IO/StolFile.h"

#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/TextColumns.h"

namespace nanobragg::io {

std::vector<StolPoint> readStol(const std::string &path) {
  const std::string text = readBytes(path);
  std::vector<StolPoint> points;
  forEachRow(path, text, 2, [&](std::size_t number, const std::vector<double> &row) {
    if (row.size() < 2)
      throw FileError(path, number,
                      "the second column is missing; each line needs "
                      "sin(theta)/lambda and F");
    if (!points.empty() && !(row[0] > points.back().stol))
      throw FileError(path, number, "sin(theta)/lambda does not ascend; sort the lines");
    points.push_back({row[0], row[1]});
  });
  if (points.empty())
    throw FileError(path, "has no data; each line needs sin(theta)/lambda and F");
  return points;
}

} // namespace nanobragg::io
