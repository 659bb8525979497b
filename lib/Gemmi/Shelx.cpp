#include "lib/Gemmi/Reflections.h"

#include "lib/Files/FileContents.h"
#include "lib/Gemmi/Expansion.h"
#include "lib/Gemmi/FrenchWilson.h"
#include "lib/Gemmi/Guard.h"
#include "lib/Gemmi/Merging.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gemmi/symmetry.hpp>
#include <sstream>

namespace nanobragg::io {
namespace {

constexpr const char *asShelx = "a SHELX file";

/// The crystal that an .ins file describes.
struct Instructions {
  std::string path;
  gemmi::UnitCell cell;
  const gemmi::SpaceGroup *group = nullptr;
  int hklf = 4;
  double scale = 1, sigmaScale = 1; // the numbers of HKLF, with the matrix
  std::array<double, 9> matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::vector<std::string> warnings;
};

std::string instructionsBeside(const std::string &path) {
  if (const std::optional<std::string> found = shelxInstructions(path))
    return *found;
  const std::string stem = std::filesystem::path(path).stem().string();
  throw FileError(path, "is a reflection file of SHELX, which has no cell and no symmetry; put " +
                            stem + ".ins or " + stem + ".res beside it");
}

/// HKLF N S r11 ... r33 sm: reflections are numbers by S, their sigmas by S sm, and indices are
/// multiplied by the matrix.
void readHklf(std::istringstream &words, Instructions &found) {
  words >> found.hklf;
  double number = 0;
  std::vector<double> numbers;
  while (words >> number)
    numbers.push_back(number);
  if (!numbers.empty())
    found.scale = numbers[0];
  if (numbers.size() > 1 && numbers.size() < 10)
    throw FileError(found.path, "has an HKLF whose matrix is not of nine numbers");
  for (std::size_t i = 0; i < 9 && numbers.size() >= 10; ++i)
    found.matrix[i] = numbers[1 + i];
  if (numbers.size() > 10)
    found.sigmaScale = numbers[10];
  if (!(found.scale > 0) || !(found.sigmaScale > 0))
    throw FileError(found.path, "has an HKLF with a scale that is not above 0");
}

/// LATT: 1 to 7 are P, I, R (obverse), F, A, B and C; below 0 there is no centre of symmetry.
gemmi::GroupOps groupOfLattice(int lattice, const std::vector<gemmi::Op> &listed) {
  constexpr char letters[] = {'P', 'I', 'R', 'F', 'A', 'B', 'C'};
  gemmi::GroupOps group;
  group.sym_ops = {gemmi::Op::identity()};
  group.sym_ops.insert(group.sym_ops.end(), listed.begin(), listed.end());
  group.cen_ops = gemmi::centring_vectors(letters[std::abs(lattice) - 1]);
  if (lattice > 0)
    group.add_inversion();
  return group;
}

Instructions readInstructions(const std::string &path) {
  Instructions found;
  found.path = path;
  requireRegular(found.path);
  std::istringstream lines(readMaybeCompressed(found.path));
  int lattice = 1;
  std::vector<gemmi::Op> operations;
  bool twinned = false;
  for (std::string line; std::getline(lines, line);) {
    const auto goesOn = [&] {
      const std::size_t last = line.find_last_not_of(" \t\r");
      return last != line.npos && line[last] == '=';
    };
    for (std::string more; goesOn() && std::getline(lines, more);)
      line = line.substr(0, line.rfind('=')) + " " + more;
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return char(std::toupper(c)); });
    if (word == "CELL") {
      double wavelength = 0, a = 0, b = 0, c = 0, alpha = 0, beta = 0, gamma = 0;
      words >> wavelength >> a >> b >> c >> alpha >> beta >> gamma;
      if (words)
        found.cell.set(a, b, c, alpha, beta, gamma);
    } else if (word == "LATT") {
      words >> lattice;
      if (!words || lattice == 0 || std::abs(lattice) > 7)
        throw FileError(found.path, "has a LATT that is not between 1 and 7 or -1 and -7");
    } else if (word == "SYMM") {
      operations.push_back(operationOf(line.substr(line.find_first_of("mM") + 2)));
    } else if (word == "HKLF") {
      readHklf(words, found);
    } else if (word == "TWIN" || word == "BASF") {
      twinned = true;
    }
  }
  if (twinned)
    found.warnings.push_back(found.path + ": its TWIN and BASF are not used; the amplitudes are "
                                          "those of all twin domains together");
  requireCell(found.path, found.cell);
  found.group = gemmi::find_spacegroup_by_ops(groupOfLattice(lattice, operations));
  if (!found.group)
    throw FileError(found.path,
                    "has LATT and SYMM that match no space group in the tables of settings; "
                    "correct them, or reindex to a usual setting");
  if (found.hklf != 3 && found.hklf != 4)
    throw FileError(found.path, "has HKLF " + std::to_string(found.hklf) +
                                    "; reflections of HKLF 3 (F) and 4 (F^2) can be read");
  return found;
}

Instructions instructionsOf(const std::string &hkl) {
  const std::string path = instructionsBeside(hkl);
  return withGemmi(path, asShelx, [&] { return readInstructions(path); });
}

/// Up to the reflection 0 0 0; what has no sigma above 0 was not measured.
std::vector<UniqueReflection> reflectionsOf(const std::string &path, const std::string &content,
                                            const Instructions &crystal) {
  ListedReflections listed(path, *crystal.group, /*intensities=*/true);
  std::istringstream lines(content);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos)
      break;
    std::array<double, 5> values;
    constexpr std::size_t widths[] = {4, 4, 4, 8, 8};
    for (std::size_t i = 0, at = 0; i < 5; at += widths[i++]) {
      const std::string field = at < line.size() ? line.substr(at, widths[i]) : "";
      char *end = nullptr;
      values[i] = std::strtod(field.c_str(), &end);
      const bool whole = i > 2 || (std::fabs(values[i]) < 1e4 && values[i] == std::rint(values[i]));
      if (end == field.c_str() || !std::isfinite(values[i]) || !whole)
        throw FileError(path, number,
                        "is not a reflection of SHELX: h k l in columns of four "
                        "characters, F^2 and sigma in columns of eight");
    }
    if (values[0] == 0 && values[1] == 0 && values[2] == 0)
      break;
    std::array<std::int32_t, 3> hkl;
    for (std::size_t i = 0; i < 3; ++i) {
      const double *row = crystal.matrix.data() + 3 * i;
      const double index = row[0] * values[0] + row[1] * values[1] + row[2] * values[2];
      if (!(std::fabs(index - std::rint(index)) < 1e-3) || std::fabs(index) > 1e5)
        throw FileError(path, number,
                        "has indices that are not whole numbers after the matrix of HKLF in " +
                            crystal.path + "; correct the matrix");
      hkl[i] = std::int32_t(std::rint(index));
    }
    const float value = float(values[3] * crystal.scale);
    const float sigma = float(values[4] * crystal.scale * crystal.sigmaScale);
    listed.add({hkl, value, value, 0, {sigma, sigma}}, /*mates=*/false);
  }
  std::vector<UniqueReflection> unique = listed.merged();
  if (unique.empty())
    throw FileError(path, "has no reflection with a sigma above 0");
  return unique;
}

} // namespace

std::optional<std::array<double, 6>> cellOfShelx(const std::string &path) {
  return withGemmi(path, asShelx,
                   [&] { return std::optional(numbersOf(instructionsOf(path).cell)); });
}

StructureFactors readShelx(const NameAndLabel &file, const std::string &content, double defaultF) {
  const std::string &path = file.name;
  return withGemmi(path, asShelx, [&] {
    const Instructions crystal = instructionsOf(path);
    std::vector<UniqueReflection> unique = reflectionsOf(path, content, crystal);
    if (crystal.hklf == 4)
      toAmplitudes(unique, crystal.cell, *crystal.group);
    StructureFactors result;
    result.warnings = crystal.warnings;
    result.cell = numbersOf(crystal.cell);
    expandToP1(path, unique, *crystal.group, defaultF, result);
    result.notes.push_back(
        path + ": amplitudes are those of " +
        (crystal.hklf == 4 ? "the F^2 by French and Wilson's method" : "the list") +
        ", averaged over equivalents, in " + result.spaceGroup + " of " + crystal.path);
    return result;
  });
}

} // namespace nanobragg::io
