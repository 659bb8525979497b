#include "lib/Formats/MatrixFile.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

namespace nanobragg::io {

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
