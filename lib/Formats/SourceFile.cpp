#include "lib/Formats/SourceFile.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextColumns.h"
#include "lib/Files/TextScanner.h"

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

} // namespace nanobragg::io
