#include "lib/Inputs/AnomalousInput.h"

#include "lib/Choose/Defaults.h"
#include "lib/Experiment/FactorsByEnergy.h"
#include "lib/Experiment/FlagUnits.h"
#include "lib/Experiment/Formatted.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/AnomalousFiles.h"
#include "lib/Formats/GridSize.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

namespace nanobragg {
namespace {

constexpr int sodium = 11; ///< lighter elements disperse X-rays little

/// Atoms of the cell, and where they are from.
struct Scatterers {
  std::vector<io::LabelledAtom> atoms;
  std::string source; ///< for remarks
};

std::string inCapitals(std::string_view name) {
  std::string element(name);
  for (char &c : element)
    c = char(std::toupper((unsigned char)c));
  return element;
}

std::vector<std::string> elementsIn(std::string_view list) {
  std::vector<std::string> elements;
  for (std::string_view word; !(word = io::nextWord(list, ",")).empty();)
    elements.push_back(inCapitals(word));
  return elements;
}

/// A crystal's own model has the cell of the run, up to roundings.
void refuseOtherCell(const std::string &path, const std::array<double, 6> &cell,
                     const std::optional<std::array<double, 6>> &given) {
  if (!given)
    return;
  const std::array<double, 6> &ofRun = *given;
  for (std::size_t i = 0; i < 6; ++i) {
    const bool said = ofRun[i] > 0; // else by default
    if (said && std::fabs(cell[i] - ofRun[i]) > (i < 3 ? 0.005 * ofRun[i] : 0.5)) {
      throw io::FileError(
          path, formatted("has the unit cell %.6g %.6g %.6g %.6g %.6g %.6g, which is not that of "
                          "the structure factors; give a model of the same crystal",
                          cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]));
    }
  }
}

/// Atoms of a model: the elements named behind its colon, else those of the table, else the heavy
/// ones.
Scatterers atomsOfModel(const io::NameAndLabel &file, const std::string &content,
                        io::StructureFactorFormat format, io::DispersionTable *table,
                        LoadedInputs &loaded) {
  std::optional<std::array<double, 6>> cell;
  if (loaded.options.cell)
    cell = flagUnit::inFlagUnits(flagUnit::cell, *loaded.options.cell);
  io::AtomsOfModel model = io::atomsOfModel(file.name, content, format, cell);
  refuseOtherCell(file.name, model.cell, cell);
  loaded.warnings.insert(loaded.warnings.end(), model.warnings.begin(), model.warnings.end());
  std::vector<std::string> wanted = elementsIn(file.label);
  for (const std::string &element : wanted)
    if (std::ranges::find(model.atoms, element, &io::LabelledAtom::label) == model.atoms.end())
      throw io::FileError(file.name, "has no atoms of the element " + io::inQuotes(element) +
                                         ", which is named after its colon");
  if (table)
    for (std::string &label : table->labels)
      label = inCapitals(label); // as the model's
  if (wanted.empty() && table)
    wanted = table->labels;
  const bool heavy = wanted.empty();
  Scatterers result{{}, file.name + ", " + model.spaceGroup};
  for (const io::LabelledAtom &atom : model.atoms) {
    const bool known = std::ranges::find(wanted, atom.label) != wanted.end();
    if (!known && heavy && io::dispersionOf(atom.label, {}).atomicNumber >= sodium)
      wanted.push_back(atom.label);
    if (std::ranges::find(wanted, atom.label) != wanted.end() && atom.occupancy > 0)
      result.atoms.push_back(atom);
  }
  if (result.atoms.empty())
    throw io::FileError(file.name,
                        heavy ? "has no atoms from sodium on, the default; name other elements: " +
                                    file.name + ":C,N,O"
                              : "has no atoms of the elements of --anomalous-table, "
                                "whose labels have to be elements (SE)");
  return result;
}

Scatterers readScatterers(io::DispersionTable *table, const ExperimentRequest &request,
                          LoadedInputs &loaded) {
  const io::NameAndLabel file = io::splitLabel(*request.files.anomalousAtoms);
  const std::string content = io::readMaybeCompressed(file.name);
  const io::StructureFactorFormat format = io::formatOf(file.name, content);
  if (io::isModel(format))
    return atomsOfModel(file, content, format, table, loaded);
  if (!file.label.empty())
    throw io::FileError(file.name, "is a list of atoms, all of which are used; leave out ':" +
                                       file.label + "', or give a PDB or mmCIF model");
  const io::AtomFile list = io::parseAtoms(file.name, content);
  return {io::expandAtoms(list),
          file.name + (list.spaceGroup.empty() ? "" : ", " + list.spaceGroup)};
}

/// eV, of all sources, those of each shot too; each once, ascending.
std::vector<double> energiesOfSources(const ExperimentRequest &request,
                                      const LoadedInputs &loaded) {
  const auto energiesOfRun = [&](const Options &options) {
    return sourceEnergies(
        withoutFactors(options, loaded.inputs, loaded.inputs.sources, request.semantics)
            .experiment);
  };
  std::vector<double> energies = energiesOfRun(loaded.options);
  const auto ofBeam = [](const Options &o) {
    return std::tie(o.lambda, o.energy, o.wavelengthOffset, o.wavelengthScale, o.dispersion);
  };
  if (request.eachStill)
    request.eachStill(loaded.options, [&](const Options &still) {
      if (ofBeam(still) != ofBeam(loaded.options)) {
        const std::vector<double> more = energiesOfRun(still);
        energies.insert(energies.end(), more.begin(), more.end());
      }
      return true;
    });
  std::ranges::sort(energies);
  // Energies of very many shots are on one tangent.
  const double apart = (energies.back() - energies.front()) / 16384;
  const auto same = [&](double a, double b) { return b - a < std::max(1e-9 * b, apart); };
  energies.erase(std::unique(energies.begin(), energies.end(), same), energies.end());
  return energies;
}

/// Energies (eV) so close that f' and f'' are nearly linear in between, over a continuous spectrum.
std::vector<double> energiesOfSpectrum(const Inputs &inputs) {
  constexpr int steps = 2048;
  constexpr double beyond = 1e-3; // the spectrum ends steeply
  const auto [first, last] = std::ranges::minmax(inputs.spectrum);
  const double low = units::wavelengthFromEnergy(1) / last[0] * (1 - beyond),
               high = units::wavelengthFromEnergy(1) / first[0] * (1 + beyond);
  std::vector<double> energies;
  for (int i = 0; i <= steps; ++i)
    energies.push_back(low + (high - low) * i / steps);
  return energies;
}

/// f' and f'' of an element along a line through their values at a source's energy, between two
/// energies around it: the table is exact there and has the slope that derivatives see.
struct Tangents {
  explicit Tangents(const std::vector<double> &sources) : sources(sources) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      double reach = 1e-3 * sources[i];
      if (i > 0)
        reach = std::min(reach, (sources[i] - sources[i - 1]) / 4);
      if (i + 1 < sources.size())
        reach = std::min(reach, (sources[i + 1] - sources[i]) / 4);
      nodes.push_back(sources[i] - reach);
      nodes.push_back(sources[i] + reach);
      for (const double steps : {-1, 0, 1})
        asked.push_back(sources[i] + steps * reach / 10);
    }
  }

  void append(const std::vector<double> &values, std::vector<double> &table) const {
    for (std::size_t i = 0; i < sources.size(); ++i)
      for (const double side : {-1, 1})
        table.push_back(values[3 * i + 1] + side * 5 * (values[3 * i + 2] - values[3 * i]));
  }

  const std::vector<double> &sources;
  std::vector<double> nodes, asked;
};

/// The dispersion of the elements that the atoms are labelled by. A run of one energy says which
/// values it has.
io::DispersionTable tableOfElements(const std::vector<io::LabelledAtom> &atoms,
                                    const std::vector<double> &sources, std::string &remark) {
  const Tangents tangents(sources);
  io::DispersionTable table;
  table.energies = tangents.nodes;
  remark = formatted("f' and f'' are Cromer and Liberman's, at %.6g eV", sources[0]);
  if (sources.size() > 1)
    remark += " and so on";
  for (const io::LabelledAtom &atom : atoms) {
    if (std::ranges::find(table.labels, atom.label) != table.labels.end())
      continue;
    const io::Dispersion of = io::dispersionOf(atom.label, tangents.asked);
    if (of.atomicNumber == 0)
      throw UsageError("the label " + io::inQuotes(atom.label) +
                       " of --anomalous-atoms is not an element, so its f' and f'' are not known; "
                       "use the symbol of an element (SE), or give --anomalous-table");
    remark += formatted("%s %.3f and %.3f (%s)", table.labels.empty() ? ":" : ",", of.fPrime[1],
                        of.fDoublePrime[1], atom.label.c_str());
    table.labels.push_back(atom.label);
    tangents.append(of.fPrime, table.fPrime);
    tangents.append(of.fDoublePrime, table.fDoublePrime);
  }
  return table;
}

} // namespace

void loadAnomalousAtoms(const ExperimentRequest &request, LoadedInputs &loaded) {
  const std::string &atomFile = *request.files.anomalousAtoms;
  const std::string tableFile = request.files.anomalousTable.value_or("");
  io::DispersionTable table;
  if (!tableFile.empty())
    table = io::readDispersion(tableFile);
  const Scatterers scatterers =
      readScatterers(tableFile.empty() ? nullptr : &table, request, loaded);
  if (tableFile.empty()) {
    std::string remark;
    table = tableOfElements(scatterers.atoms,
                            loaded.inputs.spectrum.empty() ? energiesOfSources(request, loaded)
                                                           : energiesOfSpectrum(loaded.inputs),
                            remark);
    loaded.remarks.push_back(remark);
  }
  auto byEnergy = std::make_shared<FactorsByEnergy>(*loaded.inputs.byEnergy);
  byEnergy->file = tableFile;
  byEnergy->energies = table.energies;
  for (const io::LabelledAtom &atom : scatterers.atoms) {
    auto kind =
        std::size_t(std::ranges::find(byEnergy->kinds, atom.label) - byEnergy->kinds.begin());
    if (kind == byEnergy->kinds.size()) {
      const auto row = std::ranges::find(table.labels, atom.label) - table.labels.begin();
      if (std::size_t(row) == table.labels.size())
        throw io::FileError(tableFile, "has no f' and f'' of '" + atom.label + "', which is in " +
                                           atomFile + "; add lines of " + atom.label +
                                           " eV f' f''");
      if (kind == std::size_t(mostAnomalousKinds))
        throw io::FileError(atomFile,
                            "has more than " + std::to_string(mostAnomalousKinds) +
                                " kinds of atoms; give those that scatter alike one label");
      byEnergy->kinds.push_back(atom.label);
      const auto energies = std::ptrdiff_t(table.energies.size());
      for (auto [from, to] : {std::pair(&table.fPrime, &byEnergy->fPrime),
                              std::pair(&table.fDoublePrime, &byEnergy->fDoublePrime)})
        to->insert(to->end(), from->begin() + row * energies, from->begin() + (row + 1) * energies);
    }
    byEnergy->atoms.push_back({int(kind), atom.position, atom.occupancy, atom.b});
  }
  const HklGrid &box = *loaded.inputs.grid;
  const std::size_t boxes = 2 + 2 * byEnergy->kinds.size();
  io::gridNodes(atomFile, stackedBounds(box, boxes), boxes * box.values.size());
  loaded.remarks.push_back(std::to_string(byEnergy->atoms.size()) + " anomalous scatterers of " +
                           std::to_string(byEnergy->kinds.size()) + " kinds are in the cell (" +
                           scatterers.source + ")");
  loaded.inputs.byEnergy = std::move(byEnergy);
}

} // namespace nanobragg
