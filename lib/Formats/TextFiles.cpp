#include "lib/Formats/TextFiles.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

#include <algorithm>

namespace nanobragg::io {

/// A spectrum of two columns would be read as directions otherwise.
static void requireColumns(const std::string &path, std::size_t number, std::size_t columns) {
  const std::string form = "a source is x y z [weight [wavelength in m]]";
  if (columns < 3)
    throw FileError(path, number,
                    "has " + std::to_string(columns) + " column" + (columns == 1 ? "" : "s") +
                        ", and " + form +
                        "; write a spectrum of energies or wavelengths with the "
                        "direction in front: -10 0 0 weight wavelength");
  if (columns > 5)
    throw FileError(path, number,
                    "has more than 5 columns, and " + form + "; begin comments with #");
}

std::vector<SourceLine> readSources(const std::string &path, Rule columns) {
  const std::string text = readMaybeCompressed(path);
  std::vector<SourceLine> sources;
  forEachRow(path, text, 6, [&](std::size_t number, const std::vector<double> &row) {
    if (columns == Rule::Right)
      requireColumns(path, number, row.size());
    const auto column = [&](std::size_t i) {
      return i < row.size() ? std::optional(row[i]) : std::nullopt;
    };
    SourceLine source{{column(0), column(1), column(2)}, column(3), column(4)};
    const auto &[x, y, z] = source.position;
    if (z && *x == 0 && *y == 0 && *z == 0)
      throw FileError(path, number,
                      "the source is at the sample; give the position it shines from");
    if (source.weight && *source.weight < 0)
      throw FileError(path, number,
                      "the weight is negative; the columns are x y z weight wavelength");
    // Nothing that diffracts is longer than a tenth of a millimetre: such a number is in A.
    constexpr double longest = 1e-4;
    if (source.wavelength && !(*source.wavelength > 0 && *source.wavelength < longest))
      throw FileError(path, number,
                      "the wavelength is " + shortNumber(*source.wavelength) +
                          " m; the fifth column is in metres (1 A is 1e-10)");
    sources.push_back(source);
  });
  if (sources.empty())
    throw FileError(path,
                    "has no sources; each line needs x y z and may add weight and wavelength");
  return sources;
}

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

Mat3 readMatrix(const std::string &path) {
  const std::string text = readMaybeCompressed(path);
  Mat3 matrix{};
  std::size_t found = 0;
  TextLines lines(text);
  std::string_view line;
  while (found < matrix.size() && lines.next(line)) {
    std::string_view rest = line;
    while (found < matrix.size()) {
      const std::string_view word = nextWord(rest, " \t\v\f");
      if (word.empty())
        break;
      const std::optional<double> value = toNumber(word);
      if (!value)
        throw FileError(path, lines.number(),
                        inQuotes(word) + " is not a number; a MOSFLM matrix "
                                         "begins with three rows of three numbers");
      matrix[found++] = *value;
    }
  }
  if (found < matrix.size())
    throw FileError(path, "has " + std::to_string(found) +
                              " of the nine numbers of a matrix; a "
                              "MOSFLM matrix begins with three rows of three numbers");
  const Mat3 &m = matrix;
  const double determinant = m[0] * (m[4] * m[8] - m[5] * m[7]) -
                             m[1] * (m[3] * m[8] - m[5] * m[6]) +
                             m[2] * (m[3] * m[7] - m[4] * m[6]);
  if (determinant == 0)
    throw FileError(path, "the matrix is singular; its columns must be three independent "
                          "reciprocal axes");
  return matrix;
}

} // namespace nanobragg::io
