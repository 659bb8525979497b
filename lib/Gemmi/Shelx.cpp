#include "lib/Gemmi/Shelx.h"

#include "lib/Files/FileContents.h"
#include "lib/Gemmi/FrenchWilson.h"
#include "lib/Gemmi/Guard.h"
#include "lib/Gemmi/Merging.h"
#include "lib/Gemmi/Operation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <gemmi/symmetry.hpp>
#include <sstream>

namespace nanobragg::io {
namespace {

constexpr const char *as = "a SHELX file";

/// The crystal that an .ins file describes.
struct Instructions {
  std::string path;
  gemmi::UnitCell cell;
  const gemmi::SpaceGroup *group = nullptr;
  int hklf = 4;
};

std::string instructionsBeside(const std::string &path) {
  namespace fs = std::filesystem;
  for (const char *extension : {".ins", ".res"}) {
    std::error_code ignored;
    const fs::path beside = fs::path(path).replace_extension(extension);
    if (fs::exists(beside, ignored))
      return beside.string();
  }
  const std::string stem = fs::path(path).stem().string();
  throw FileError(path, "is a reflection file of SHELX, which has no cell and no symmetry; put " +
                            stem + ".ins or " + stem + ".res beside it");
}

/// LATT: 1 to 7 are P, I, R (obverse), F, A, B and C; below 0 there is no centre of symmetry.
gemmi::GroupOps groupOf(int lattice, const std::vector<gemmi::Op> &listed) {
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
  for (std::string line; std::getline(lines, line);) {
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
      words >> found.hklf;
    }
  }
  requireCell(found.path, found.cell);
  found.group = gemmi::find_spacegroup_by_ops(groupOf(lattice, operations));
  if (!found.group)
    throw FileError(found.path, "has LATT and SYMM of no space group in the tables of settings; "
                                "correct them, or reindex to a usual setting");
  if (found.hklf != 3 && found.hklf != 4)
    throw FileError(found.path, "has HKLF " + std::to_string(found.hklf) +
                                    "; reflections of HKLF 3 (F) and 4 (F^2) can be read");
  return found;
}

Instructions instructionsOf(const std::string &hkl) {
  const std::string path = instructionsBeside(hkl);
  return withGemmi(path, as, [&] { return readInstructions(path); });
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
                        "is no reflection of SHELX: h k l in columns of four "
                        "characters, F^2 and sigma in columns of eight");
    }
    const std::array<std::int32_t, 3> hkl{int(values[0]), int(values[1]), int(values[2])};
    if (hkl == std::array<std::int32_t, 3>{})
      break;
    const float value = float(values[3]), sigma = float(values[4]);
    listed.add({hkl, value, value, 0, {sigma, sigma}}, /*mates=*/false);
  }
  std::vector<UniqueReflection> unique = listed.merged();
  if (unique.empty())
    throw FileError(path, "has no reflection with a sigma above 0");
  return unique;
}

} // namespace

std::optional<std::array<double, 6>> cellOfShelx(const std::string &path) {
  return withGemmi(path, as, [&] { return std::optional(numbersOf(instructionsOf(path).cell)); });
}

StructureFactors readShelx(const NameAndLabel &file, const std::string &content, double defaultF) {
  const std::string &path = file.name;
  return withGemmi(path, as, [&] {
    const Instructions crystal = instructionsOf(path);
    std::vector<UniqueReflection> unique = reflectionsOf(path, content, crystal);
    if (crystal.hklf == 4)
      toAmplitudes(unique, crystal.cell, *crystal.group);
    StructureFactors result;
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
