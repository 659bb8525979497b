#include "lib/Formats/AnomalousFiles.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/GridSize.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

namespace nanobragg::io {
namespace {

constexpr std::string_view blanks = " \t\v\f\r,;";

/// The words of each line that has any, with its number.
template <typename Visit>
void forEachLine(const std::string &text, Visit visit) {
  TextLines lines(text);
  std::string_view line;
  while (lines.next(line)) {
    std::vector<std::string_view> words;
    for (std::string_view word; !(word = nextWord(line, blanks)).empty();)
      words.push_back(word);
    if (!words.empty())
      visit(lines.number(), words);
  }
}

double numberOf(const std::string &path, std::size_t line, std::string_view word,
                const char *what) {
  if (const auto value = toNumber(word))
    return *value;
  throw FileError(path, line,
                  std::string(what) + " is " + inQuotes(word) +
                      ", not a number; comments begin with #");
}

double coordinateDistance(double a, double b) {
  const double d = std::fabs(a - b);
  return std::fabs(d - std::round(d));
}

bool coincide(const LabelledAtom &a, const LabelledAtom &b) {
  for (std::size_t i = 0; i < 3; ++i)
    if (coordinateDistance(a.position[i], b.position[i]) > 1e-3)
      return false;
  return true;
}

} // namespace

AtomFile parseAtoms(const std::string &path, const std::string &text) {
  AtomFile file;
  forEachLine(text, [&](std::size_t line, const std::vector<std::string_view> &words) {
    if (words[0] == "space_group") {
      if (words.size() < 2 || !file.spaceGroup.empty())
        throw FileError(path, line, "needs the name of the space group after space_group, once");
      for (std::size_t i = 1; i < words.size(); ++i)
        file.spaceGroup += (i > 1 ? " " : "") + std::string(words[i]);
      return;
    }
    if (words.size() != 6)
      throw FileError(path, line,
                      "has " + std::to_string(words.size()) +
                          " words; each line needs label x y z occupancy B");
    const auto number = [&](std::size_t i, const char *what) {
      return numberOf(path, line, words[i], what);
    };
    const LabelledAtom atom{std::string(words[0]),
                            {number(1, "x"), number(2, "y"), number(3, "z")},
                            number(4, "the occupancy"),
                            number(5, "B")};
    if (std::ranges::any_of(atom.position, [](double x) { return std::fabs(x) > 100; }))
      throw FileError(path, line,
                      "has a coordinate beyond 100; x, y and z are fractions of the cell's edges");
    if (!(atom.occupancy > 0) || atom.b < 0)
      throw FileError(path, line, "needs an occupancy above 0 and a B that is not negative");
    file.atoms.push_back(atom);
  });
  if (file.atoms.empty())
    throw FileError(path, "has no atoms; each line needs label x y z occupancy B");
  return file;
}

std::vector<LabelledAtom> expandAtoms(const AtomFile &file) {
  if (file.spaceGroup.empty())
    return file.atoms;
  const std::vector<SymmetryOperation> operations = operationsOfSpaceGroup(file.spaceGroup);
  std::vector<LabelledAtom> all;
  for (const LabelledAtom &atom : file.atoms) {
    std::vector<LabelledAtom> images;
    for (const SymmetryOperation &op : operations) {
      LabelledAtom image = atom;
      for (std::size_t i = 0; i < 3; ++i) {
        image.position[i] = op.translation[i];
        for (std::size_t j = 0; j < 3; ++j)
          image.position[i] += op.rotation[3 * i + j] * atom.position[j];
      }
      if (std::ranges::none_of(images, [&](const LabelledAtom &o) { return coincide(o, image); }))
        images.push_back(image);
    }
    all.insert(all.end(), images.begin(), images.end());
  }
  return all;
}

DispersionTable readDispersion(const std::string &path) {
  const std::string text = readMaybeCompressed(path);
  struct Row {
    double energy, fPrime, fDoublePrime;
  };
  std::vector<std::string> labels;
  std::vector<std::vector<Row>> rows;
  forEachLine(text, [&](std::size_t line, const std::vector<std::string_view> &words) {
    if (words.size() != 4)
      throw FileError(path, line,
                      "has " + std::to_string(words.size()) +
                          " words; each line needs label eV f' f''");
    const auto found = std::ranges::find(labels, words[0]) - labels.begin();
    if (std::size_t(found) == labels.size()) {
      labels.emplace_back(words[0]);
      rows.emplace_back();
    }
    const Row row{numberOf(path, line, words[1], "the energy"),
                  numberOf(path, line, words[2], "f'"), numberOf(path, line, words[3], "f''")};
    std::vector<Row> &of = rows[std::size_t(found)];
    if (!(row.energy > 0) || (!of.empty() && !(row.energy > of.back().energy)))
      throw FileError(path, line,
                      "energies of " + labels[std::size_t(found)] +
                          " do not ascend from above 0; sort the lines");
    of.push_back(row);
  });
  if (rows.empty())
    throw FileError(path, "has no data; each line needs label eV f' f''");
  DispersionTable table;
  table.labels = labels;
  for (const Row &row : rows.front())
    table.energies.push_back(row.energy);
  for (std::size_t kind = 0; kind < rows.size(); ++kind) {
    const bool same = std::ranges::equal(rows[kind], table.energies, {}, &Row::energy);
    if (!same)
      throw FileError(path, labels[kind] + " is listed at other energies than " + labels[0] +
                                "; list all at the same ones");
    for (const Row &row : rows[kind]) {
      table.fPrime.push_back(row.fPrime);
      table.fDoublePrime.push_back(row.fDoublePrime);
    }
  }
  return table;
}

StructureFactors parsePhasedHkl(const std::string &path, const std::string &content,
                                double defaultF) {
  struct Line {
    std::array<std::int64_t, 3> hkl;
    double f, phase;
  };
  std::vector<Line> lines;
  std::array<std::int64_t, 3> limit{};
  forEachRow(path, content, 5, [&](std::size_t number, const std::vector<double> &row) {
    if (row.size() < 5)
      throw FileError(path, number,
                      "has no phase; with anomalous scatterers each line needs h k l F and the "
                      "phase in degrees");
    Line line{{}, row[3], std::remainder(row[4], 360) * std::numbers::pi / 180};
    for (std::size_t i = 0; i < 3; ++i) {
      if (row[i] != std::nearbyint(row[i]) || std::fabs(row[i]) > 100000)
        throw FileError(path, number,
                        "has an index that is not a Miller index; the columns are h k l F phase");
      line.hkl[i] = std::int64_t(row[i]);
      limit[i] = std::max(limit[i], std::abs(line.hkl[i]));
    }
    lines.push_back(line);
  });
  if (lines.empty())
    throw FileError(path, "has no reflections; each line needs h k l F phase");
  StructureFactors result;
  result.reflections = lines.size();
  result.grid = {-limit[0], limit[0], -limit[1], limit[1], -limit[2], limit[2], {}};
  const std::size_t nodes = gridNodes(path, result.grid, 2 * lines.size());
  result.real.assign(nodes, defaultF);
  result.imaginary.assign(nodes, std::numeric_limits<double>::quiet_NaN());
  std::vector<char> listed(nodes, 0);
  const auto nodeOf = [&](const std::array<std::int64_t, 3> &h, std::int64_t sign) {
    return std::size_t(((sign * h[0] + limit[0]) * (2 * limit[1] + 1) + sign * h[1] + limit[1]) *
                           (2 * limit[2] + 1) +
                       sign * h[2] + limit[2]);
  };
  for (const Line &line : lines) {
    const std::size_t at = nodeOf(line.hkl, 1), mate = nodeOf(line.hkl, -1);
    result.duplicates += listed[at];
    listed[at] = 1;
    result.real[at] = line.f * std::cos(line.phase);
    result.imaginary[at] = line.f * std::sin(line.phase);
    if (!listed[mate]) {
      result.real[mate] = result.real[at];
      result.imaginary[mate] = -result.imaginary[at];
    }
  }
  for (std::size_t i = 0; i < nodes; ++i)
    result.grid.values.push_back(std::isnan(result.imaginary[i])
                                     ? result.real[i]
                                     : std::hypot(result.real[i], result.imaginary[i]));
  return result;
}

std::vector<ChannelFile> readChannels(const std::string &path) {
  const std::string text = readMaybeCompressed(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<ChannelFile> channels;
  forEachLine(text, [&](std::size_t line, const std::vector<std::string_view> &words) {
    if (words.size() != 2)
      throw FileError(path, line,
                      "has " + std::to_string(words.size()) + " words; each line needs eV FILE");
    const double energy = numberOf(path, line, words[0], "the energy");
    if (!(energy > 0) || (!channels.empty() && !(energy > channels.back().energy)))
      throw FileError(path, line, "energies do not ascend from above 0; sort the lines");
    channels.push_back({energy, (folder / words[1]).string()});
  });
  if (channels.empty())
    throw FileError(path, "has no channels; each line needs eV FILE");
  return channels;
}

} // namespace nanobragg::io
