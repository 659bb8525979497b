#include "lib/Formats/StructureFactorFile.h"

#include "lib/Files/Module.h"
#include "lib/Files/ModuleCall.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/ForeignFormats.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace nanobragg::io {
namespace {

const GemmiModule &gemmiModule() {
  static const GemmiModule &module = []() -> const GemmiModule & {
    const auto *found = static_cast<const GemmiModule *>(
        openModule("libnb-gemmi.so", "nb_gemmi_module", "MTZ, mmCIF and PDB files"));
    if (std::strcmp(found->version, NB_VERSION) != 0)
      throw std::runtime_error(std::string("libnb-gemmi.so is of version ") + found->version +
                               " and this program of " NB_VERSION "; install both together");
    return *found;
  }();
  return module;
}

bool startsWithAnyCase(std::string_view text, std::string_view lowerCase) {
  return text.size() >= lowerCase.size() &&
         std::equal(lowerCase.begin(), lowerCase.end(), text.begin(),
                    [](char a, char b) { return a == std::tolower((unsigned char)b); });
}

/// Whether a line begins with a record of the PDB format that no reflection list has.
bool hasPdbRecord(std::string_view content) {
  for (const std::string_view record : {"CRYST1", "ATOM  ", "HETATM"}) {
    if (content.starts_with(record))
      return true;
    if (content.find("\n" + std::string(record)) != content.npos)
      return true;
  }
  return false;
}

/// SHELX's lists end with the reflection 0 0 0 or with the file. Lines of h k l F may have the same
/// columns, but neither that end nor instructions beside them.
bool isShelx(const std::string &path, std::string_view content) {
  return hasShelxColumns(content) &&
         (content.find("\n   0   0   0") != content.npos || shelxInstructions(path).has_value());
}

} // namespace

std::optional<std::string> shelxInstructions(const std::string &path) {
  namespace fs = std::filesystem;
  for (const char *extension : {".ins", ".res"}) {
    std::error_code ignored;
    const fs::path beside = fs::path(path).replace_extension(extension);
    if (fs::exists(beside, ignored))
      return beside.string();
  }
  return std::nullopt;
}

bool hasShelxColumns(std::string_view content) {
  const std::string_view line = content.substr(0, content.find('\n'));
  constexpr std::size_t ends[] = {3, 7, 11, 19, 27};
  for (const std::size_t last : ends)
    if (last >= line.size() || !(std::isdigit((unsigned char)line[last]) || line[last] == '.'))
      return false;
  return line.substr(0, 28).find_first_not_of(" -+0123456789.") == line.npos &&
         line.substr(12, 8).find('.') != line.npos;
}

StructureFactorFormat formatOf(const std::string &path, std::string_view content) {
  if (content.starts_with("MTZ "))
    return StructureFactorFormat::Mtz;
  refuseForeignFormat(path, content);
  std::string_view rest = content;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == line.npos || line[start] == '#')
      continue;
    if (!std::isalpha((unsigned char)line[start]))
      return isShelx(path, content) ? StructureFactorFormat::Shelx : StructureFactorFormat::Text;
    if (!startsWithAnyCase(line.substr(start), "data_"))
      return hasPdbRecord(content) ? StructureFactorFormat::Pdb : StructureFactorFormat::Text;
    // A model may come with its reflections: those are meant to be used as they are.
    const auto has = [&](const char *tag) { return content.find(tag) != content.npos; };
    if (has("_refln.index_h") || has("_refln_index_h"))
      return StructureFactorFormat::CifReflections;
    return has("_atom_site.") || has("_atom_site_fract_x") ? StructureFactorFormat::CifModel
                                                           : StructureFactorFormat::CifReflections;
  }
  return StructureFactorFormat::Text;
}

NameAndLabel splitLabel(const std::string &word) {
  std::error_code ignored;
  const std::size_t colon = word.rfind(':');
  if (colon == word.npos || colon == 0 || colon + 1 == word.size() ||
      word.find('/', colon) != word.npos || std::filesystem::exists(word, ignored))
    return {word, ""};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

std::vector<NameAndWeight> weightedModels(const std::string &word) {
  std::error_code ignored;
  std::vector<NameAndWeight> models;
  if (word.find(',') == word.npos || std::filesystem::exists(word, ignored))
    return models;
  double sum = 0;
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find(',', at), word.size());
    const auto [name, label] = splitLabel(word.substr(at, end - at));
    const double weight = label.empty() ? 1 : toNumber(label).value_or(0);
    if (!(weight > 0))
      throw FileError(name, "has the weight " + io::inQuotes(label) +
                                ", which is not a number above 0; "
                                "several models are written as a.pdb:0.7,b.pdb:0.3");
    models.push_back({name, weight});
    sum += weight;
    at = end + 1;
  }
  for (NameAndWeight &model : models)
    model.weight /= sum;
  return models;
}

StructureFactors readReflections(const NameAndLabel &file, const std::string &content,
                                 StructureFactorFormat format, double defaultF, bool phases) {
  StructureFactors result;
  rethrown([&](std::string &error) {
    return gemmiModule().readReflections(file, content, format, defaultF, phases, result, error);
  });
  return result;
}

std::vector<CifItem> cifItems(const std::string &path, const std::string &content) {
  std::vector<CifItem> items;
  rethrown([&](std::string &error) { return gemmiModule().cifItems(path, content, items, error); });
  return items;
}

StructureFactors calculateStructureFactors(const std::string &path, const std::string &content,
                                           StructureFactorFormat format,
                                           const ModelOptions &options,
                                           const std::optional<std::array<double, 6>> &cell) {
  StructureFactors result;
  rethrown([&](std::string &error) {
    return gemmiModule().calculate(path, content, format, options, cell, result, error);
  });
  return result;
}

std::optional<std::array<double, 6>> cellOf(const std::string &path, const std::string &content,
                                            StructureFactorFormat format) {
  std::optional<std::array<double, 6>> result;
  rethrown([&](std::string &error) {
    return gemmiModule().cellOf(path, content, format, result, error);
  });
  return result;
}

AtomsOfModel atomsOfModel(const std::string &path, const std::string &content,
                          StructureFactorFormat format,
                          const std::optional<std::array<double, 6>> &cell) {
  AtomsOfModel result;
  rethrown([&](std::string &error) {
    return gemmiModule().atomsOf(path, content, format, cell, result, error);
  });
  return result;
}

Dispersion dispersionOf(const std::string &element, const std::vector<double> &energies) {
  Dispersion result;
  rethrown([&](std::string &error) {
    return gemmiModule().dispersionOf(element, energies, result, error);
  });
  return result;
}

AsymmetricIndices toAsymmetricUnit(const std::string &spaceGroup,
                                   const std::vector<std::int32_t> &hkl) {
  AsymmetricIndices result;
  rethrown([&](std::string &error) {
    return gemmiModule().toAsymmetricUnit(spaceGroup, hkl, result, error);
  });
  return result;
}

std::vector<SymmetryOperation> operationsOfSpaceGroup(const std::string &spaceGroup) {
  std::vector<SymmetryOperation> result;
  rethrown(
      [&](std::string &error) { return gemmiModule().operationsOf(spaceGroup, result, error); });
  return result;
}

IndexingChoices indexingChoices(const std::string &spaceGroup, const std::array<double, 6> &cell,
                                double obliquity) {
  IndexingChoices result;
  rethrown([&](std::string &error) {
    return gemmiModule().indexingChoices(spaceGroup, cell, obliquity, result, error);
  });
  return result;
}

std::string mtzOf(const MtzReflections &reflections) {
  std::string result;
  rethrown([&](std::string &error) { return gemmiModule().mtzOf(reflections, result, error); });
  return result;
}

} // namespace nanobragg::io
