#include "lib/Inputs/StructureFactorInput.h"

#include "lib/Choose/Defaults.h"
#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/FlagUnits.h"
#include "lib/Experiment/Formatted.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Inputs/DialsInput.h"
#include "lib/Inputs/FactorsByEnergyInput.h"
#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

using io::StructureFactorFormat;
using Cell = std::array<double, 6>;

std::string textOf(const Cell &cell) {
  return formatted("%.6g %.6g %.6g %.6g %.6g %.6g", cell[0], cell[1], cell[2], cell[3], cell[4],
                   cell[5]);
}

/// Roundings of a cell are less, other crystal forms more.
bool differ(const Cell &one, const Cell &other) {
  constexpr double edge = 0.005, angle = 0.5;
  for (std::size_t i = 0; i < 6; ++i)
    if (std::fabs(one[i] - other[i]) > (i < 3 ? edge * one[i] : angle))
      return true;
  return false;
}

/// The cell of the orientation that a file gives; none where there is no such file.
std::optional<Cell> cellOfOrientation(const ExperimentRequest &request,
                                      const LoadedInputs &loaded) {
  const Inputs &in = loaded.inputs;
  if (!in.hasMatrix() || request.inputs.hasMatrix())
    return std::nullopt;
  const double unit =
      in.matrix ? units::angstrom : units::angstrom / wavelengthOf(loaded.options, in);
  const Mat3 &matrix = in.matrix ? *in.matrix : *in.mosflmMatrix;
  std::array<Vec3, 3> stars;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      stars[column][row] = matrix[3 * row + column] * unit;
  const std::array<Vec3, 3> edges = io::reciprocalOf(stars);
  Cell cell;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3 &u = edges[(i + 1) % 3], &v = edges[(i + 2) % 3];
    cell[i] = length(edges[i]);
    cell[3 + i] = flagUnit::degrees.fromSI(std::acos(dot(u, v) / (length(u) * length(v))));
  }
  return cell;
}

void takeCell(const std::string &path, const std::optional<Cell> &ofFile,
              const ExperimentRequest &request, LoadedInputs &loaded) {
  if (!ofFile)
    return;
  if (loaded.options.cell) {
    const Cell given = flagUnit::inFlagUnits(flagUnit::cell, *loaded.options.cell);
    if (differ(*ofFile, given))
      throw UsageError("-cell " + textOf(given) + " contradicts " + path + ", whose cell is " +
                       textOf(*ofFile) + "; leave -cell out to take the file's");
    return;
  }
  if (const auto found = cellOfOrientation(request, loaded); found && differ(*ofFile, *found))
    throw UsageError((request.files.matrix ? *request.files.matrix : *request.files.expt) +
                     " has a crystal of the cell " + textOf(*found) + ", and " + path +
                     " structure factors of the cell " + textOf(*ofFile) +
                     "; give those of this crystal form. A text list of h k l F has no cell and is "
                     "taken for any crystal");
  if (!loaded.inputs.hasMatrix()) // which has the cell that the crystal was found with
    loaded.options.cell = flagUnit::inSI(flagUnit::cell, *ofFile);
}

/// The finest spacing that a pixel sees, from the corners of all panels, in the shortest
/// wavelength; A.
double finestSpacing(const ExperimentRequest &request, const LoadedInputs &loaded) {
  const CompleteExperiment complete =
      withoutFactors(loaded.options, loaded.inputs, {}, request.semantics);
  const Experiment &e = complete.experiment;
  const Detector &d = e.detector;
  std::vector<DetectorReport> placed;
  placed.reserve(d.panels.size() + 1);
  for (const Panel &panel : d.panels)
    placed.push_back(placePanel(d, e.beam.direction, complete.report.detector, panel));
  if (placed.empty())
    placed.push_back(complete.report.detector);
  double largest = 0;
  for (const DetectorReport &p : placed)
    for (const double f : {0.0, p.detSizeFast})
      for (const double s : {0.0, p.detSizeSlow}) {
        const Vec3 corner = sum(p.pix0, sum(scaled(p.fastAxis, f), scaled(p.slowAxis, s)));
        largest = std::max(largest, length(difference(unit(corner), e.beam.direction)));
      }
  constexpr double sigmas = 4, least = 0.2; // as far as a wide bandwidth reaches
  double shortest =
      e.beam.wavelength * std::max(least, 1 / (1 + e.beam.dispersion / 2) -
                                              sigmas * loaded.options.bandwidthSigma.value_or(0));
  for (const auto &[wavelength, density] : loaded.inputs.spectrum)
    if (density > 0)
      shortest = std::min(shortest, wavelength);
  for (const SourceRow &source : loaded.inputs.sources)
    if (source.weight.value_or(1) > 0)
      shortest = std::min(shortest, source.wavelength.value_or(shortest));
  return largest > 0 ? shortest * 1e10 / largest : 1;
}

/// Whether wavelengths differ by more than f' and f'' are constant over.
bool isWide(const Inputs &inputs) {
  constexpr double wide = 1.02;
  double shortest = INFINITY, longest = 0;
  const auto take = [&](double wavelength, double weight) {
    if (!(weight > 0))
      return;
    shortest = std::min(shortest, wavelength);
    longest = std::max(longest, wavelength);
  };
  for (const auto &[wavelength, density] : inputs.spectrum)
    take(wavelength, density);
  for (const SourceRow &source : inputs.sources)
    if (source.wavelength)
      take(*source.wavelength, source.weight.value_or(1));
  return longest > wide * shortest;
}

/// `model`: its share of the crystal and what has the rest.
void calculate(const io::NameAndLabel &file, const std::string &content,
               StructureFactorFormat format, io::ModelOptions model,
               const ExperimentRequest &request, LoadedInputs &loaded,
               io::StructureFactors &factors) {
  if (!file.label.empty())
    throw UsageError("-hkl " + file.name + ":" + file.label + ": " + file.name +
                     " is a model and has no columns; leave out ':" + file.label + "'");
  const Options &o = loaded.options;
  const bool given = o.cell || loaded.inputs.hasMatrix();
  std::optional<Cell> ofCommandLine;
  if (o.cell)
    ofCommandLine = flagUnit::inFlagUnits(flagUnit::cell, *o.cell);
  const std::optional<Cell> cell = io::cellOf(file.name, content, format);
  if (!given && cell)
    loaded.options.cell = flagUnit::inSI(flagUnit::cell, *cell);
  if (!o.cell && !loaded.inputs.hasMatrix())
    throw io::FileError(
        file.name, "has no unit cell (CRYST1, _cell); give -cell, or use a model of a crystal");
  // Small cells have few reflections.
  const bool isSmall = cell && (*cell)[0] * (*cell)[1] * (*cell)[2] < 1e4;
  const double finest = isSmall ? 0 : 1;
  const double seen = finestSpacing(request, loaded) * 0.99; // the tails of what lies at the edge
  model.dmin = o.modelDmin ? flagUnit::angstroms.fromSI(*o.modelDmin)
                           : std::max({finest, seen, flagUnit::angstroms.fromSI(o.dmin)});
  model.kSol = flagUnit::electronsPerVolume.fromSI(o.solventDensity);
  model.bSol = flagUnit::squareAngstroms.fromSI(o.solventB);
  model.phases = request.files.anomalousAtoms.has_value();
  model.anomalous = o.anomalousScattering && !model.phases; // which has its own table
  model.wavelength = flagUnit::wavelength.fromSI(wavelengthOf(loaded.options, loaded.inputs));
  factors = io::calculateStructureFactors(file.name, content, format, model, ofCommandLine);
  if (given)
    takeCell(file.name, factors.cell, request, loaded);
  std::string names = file.name;
  for (const io::ModelPart &part : model.others)
    names += " and " + part.path;
  const std::string limit = formatted("%.3g", model.dmin);
  const std::string energy =
      formatted("%.0f eV", units::wavelengthFromEnergy(1) / (model.wavelength * units::angstrom));
  std::string dispersion = "without f' and f''";
  if (model.anomalous) {
    dispersion = "with f' and f'' at " + std::string(energy);
    if (isWide(loaded.inputs) && model.others.empty())
      dispersion += " for all wavelengths; " + inWordsOf(request.caller, "--anomalous-atoms") +
                    "=" + file.name + " takes them at each";
  }
  loaded.remarks.push_back(
      std::to_string(factors.reflections) + " structure factors to " + limit +
      " A were calculated from the model " + names + " in " + factors.spaceGroup + ", " +
      (model.kSol > 0 ? "with bulk solvent" : "without bulk solvent (--k-sol=0.35 adds it)") +
      ", " + dispersion);
}

[[noreturn]] void refuseLabel(const io::NameAndLabel &file) {
  throw io::FileError(file.name, "has lines of h k l and F or F^2, of which ':" + file.label +
                                     "' names no column; leave it out");
}

void take(io::StructureFactors &&factors, const ExperimentRequest &request, LoadedInputs &loaded) {
  loaded.reflections = factors.reflections;
  loaded.hallSymbol = factors.hallSymbol;
  loaded.remarks.insert(loaded.remarks.end(), factors.notes.begin(), factors.notes.end());
  loaded.warnings.insert(loaded.warnings.end(), factors.warnings.begin(), factors.warnings.end());
  if (request.files.anomalousAtoms)
    takePhasedFactors(factors, loaded);
  loaded.inputs.grid = std::make_shared<HklGrid>(std::move(factors.grid));
}

} // namespace

void loadCrystallographicFile(const io::NameAndLabel &file, const std::string &content,
                              StructureFactorFormat format, const ExperimentRequest &request,
                              LoadedInputs &loaded) {
  io::StructureFactors factors;
  if (isModel(format)) {
    calculate(file, content, format, {}, request, loaded, factors);
  } else if (listsReflections(format)) {
    if (format == StructureFactorFormat::Shelx && request.files.anomalousAtoms)
      throw io::FileError(file.name, "has F^2 without phases; anomalous scatterers add to complex "
                                     "structure factors");
    if (format == StructureFactorFormat::Shelx && !file.label.empty())
      refuseLabel(file);
    factors = io::readReflections(file, content, format, loaded.options.defaultF,
                                  request.files.anomalousAtoms.has_value());
    takeCell(file.name, factors.cell, request, loaded);
  } else {
    refuseLabel(file);
  }
  take(std::move(factors), request, loaded);
}

void loadWeightedModels(const std::vector<io::NameAndWeight> &models,
                        const ExperimentRequest &request, LoadedInputs &loaded) {
  io::ModelOptions options;
  std::vector<io::ModelPart> parts;
  for (const io::NameAndWeight &model : models) {
    const std::string content = io::readMaybeCompressed(model.name);
    const StructureFactorFormat format = io::formatOf(model.name, content);
    if (!isModel(format))
      throw io::FileError(model.name, "is not a model; structure factors of lists cannot be added "
                                      "without their phases. Give one list, or models alone");
    parts.push_back({model.name, content, format, model.weight});
  }
  options.share = parts.front().share;
  options.others.assign(parts.begin() + 1, parts.end());
  io::StructureFactors factors;
  calculate({parts.front().path, ""}, parts.front().content, parts.front().format, options, request,
            loaded, factors);
  take(std::move(factors), request, loaded);
}

} // namespace nanobragg
