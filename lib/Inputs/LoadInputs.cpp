#include "lib/Inputs/LoadInputs.h"

#include "lib/CommandLine/OutputConflicts.h"
#include "lib/CommandLine/OutputFormats.h"
#include "lib/Experiment/Defaults.h"
#include "lib/Experiment/Quantity.h"
#include "lib/Experiment/StockMaterials.h"
#include "lib/IO/DumpFile.h"
#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/HklFile.h"
#include "lib/IO/ImageFile.h"
#include "lib/IO/MatrixFile.h"
#include "lib/IO/PixelListFile.h"
#include "lib/IO/SmvFile.h"
#include "lib/IO/SourceFile.h"
#include "lib/IO/SpectrumFile.h"
#include "lib/IO/StolFile.h"
#include "lib/Inputs/AnomalousInput.h"
#include "lib/Inputs/CellOfShots.h"
#include "lib/Inputs/DialsInput.h"
#include "lib/Inputs/FactorsByEnergyInput.h"
#include "lib/Inputs/ImageHeader.h"
#include "lib/Inputs/PanelFile.h"
#include "lib/Inputs/StructureFactorInput.h"

#include <filesystem>

namespace nanobragg {
namespace {

/// What the C program reads when no -hkl is given, whichever run left it behind.
constexpr const char *cDumpFile = "Fdump.bin";

/// Where nothing else says it, the cell of the first shot is that of the run.
void requireCell(const CommandLine &line, LoadedInputs &loaded) {
  const auto known = [&] {
    return line.files.matrix || loaded.inputs.matrix || loaded.options.cell;
  };
  if (!known() && line.series.shots)
    loaded.options.cell = cellOfShots(loaded.shots, line);
  if (!known())
    throw UsageError(
        (line.files.expt ? *line.files.expt + " has no crystal, and so there is " : std::string()) +
        noUnitCell);
}

/// The spectrum's mean is the wavelength of headers and predictions where nothing else says it.
void loadSpectrum(const std::string &path, Options &options, Inputs &inputs) {
  double sum = 0, weights = 0;
  for (const auto &[wavelength, weight] : io::readSpectrumFile(path)) {
    inputs.sources.push_back({{}, weight, wavelength * 1e-10});
    sum += weight * wavelength;
    weights += weight;
  }
  const auto header = [](const auto &h) { return h && h->wavelength; };
  if (!options.lambda && !options.energy && !header(inputs.imageHeader) &&
      !header(inputs.maskHeader))
    options.lambda = sum / weights;
}

/// Is there nothing of a crystal, but a background?
bool isBackgroundAlone(const CommandLine &line, const Inputs &given) {
  const InputFiles &files = line.files;
  return !files.backgrounds.empty() && !files.hkl && !files.hklChannels && !files.dump &&
         !files.expt && !given.grid && line.options.defaultF == 0;
}

void requireInputs(const CommandLine &line, LoadedInputs &loaded) {
  const Inputs &given = loaded.inputs;
  if (line.files.anomalousTable && !line.files.anomalousAtoms)
    throw UsageError("--anomalous-table has f' and f'' of atoms that nothing places; give "
                     "--anomalous-atoms, too");
  if (line.files.anomalousAtoms && !line.files.hkl)
    throw UsageError(
        "--anomalous-atoms adds to structure factors with phases; give those with -hkl FILE");
  if (isBackgroundAlone(line, given))
    return;
  if (!line.files.hkl && !line.files.hklChannels && !line.files.expt) // which may bring the cell
    requireCell(line, loaded);
  if (line.files.hkl || line.files.hklChannels || line.files.dump || given.grid ||
      line.options.defaultF != 0)
    return;
  std::error_code ignored;
  const bool left = std::filesystem::exists(cDumpFile, ignored);
  throw UsageError(noStructureFactors +
                   (left ? "; the " + std::string(cDumpFile) +
                               " in this folder is read only with -dump " + cDumpFile
                         : std::string()));
}

io::HklFile parseOnce(const std::string &path, const std::string &content, double defaultF,
                      io::HklStore *parsed, std::vector<std::string> &warnings) {
  if (parsed)
    if (auto known = parsed->find(content, defaultF))
      return *std::move(known);
  io::HklFile file = io::parseHkl(path, content, defaultF);
  if (parsed)
    if (std::string problem = parsed->keep(content, defaultF, file); !problem.empty())
      warnings.push_back(std::move(problem));
  return file;
}

void loadHklText(const std::string &path, const std::string &content, io::HklStore *parsed,
                 LoadedInputs &loaded) {
  io::HklFile file = parseOnce(path, content, loaded.options.defaultF, parsed, loaded.warnings);
  loaded.reflections = file.reflections;
  if (file.duplicates > 0)
    loaded.warnings.push_back(path + ": " + std::to_string(file.duplicates) +
                              " reflections are listed again; the last of each counts");
  if (file.moreColumns > 0)
    loaded.warnings.push_back(path + ": line " + std::to_string(file.moreColumns) +
                              " has more than the four columns h k l F; what follows F, also on "
                              "other lines, is not used");
  loaded.inputs.grid = std::make_shared<const HklGrid>(std::move(file.grid));
}

void loadReflections(const std::string &name, const CommandLine &line, io::HklStore *parsed,
                     LoadedInputs &loaded) {
  if (const auto models = io::weightedModels(name); !models.empty())
    return loadWeightedModels(models, line, loaded);
  const io::NameAndLabel file = io::splitLabel(name);
  const std::string content = io::readMaybeCompressed(file.name);
  const io::StructureFactorFormat format = io::formatOf(content);
  if (format == io::StructureFactorFormat::Text && line.files.anomalousAtoms)
    loadPhasedHkl(file.name, content, loaded);
  else if (format == io::StructureFactorFormat::Text && file.label.empty())
    loadHklText(name, content, parsed, loaded);
  else
    loadCrystallographicFile(file, content, format, line, loaded);
}

void loadDump(const std::string &path, LoadedInputs &loaded) {
  HklGrid grid = io::readDump(path);
  loaded.reflections = grid.values.size();
  loaded.inputs.grid = std::make_shared<const HklGrid>(std::move(grid));
}

void loadSources(const std::string &path, Rule columns, Inputs &inputs) {
  for (const io::SourceLine &row : io::readSources(path, columns))
    inputs.sources.push_back({row.position, row.weight, row.wavelength});
}

BackgroundTable loadBackground(const BackgroundFile &file, std::vector<std::string> &warnings) {
  BackgroundTable table;
  if (auto stock = stockMaterial(file.name)) {
    table = std::move(*stock);
  } else {
    const io::StolTable read = io::readStol(file.name);
    if (read.unsorted > 0)
      warnings.push_back(file.name + ": line " + std::to_string(read.unsorted) +
                         " is below the one before; the lines are sorted by sin(theta)/lambda");
    for (const io::StolPoint &point : read.points) {
      table.stol.push_back(point.stol * file.stolUnit);
      table.factor.push_back(point.f);
    }
  }
  table.flag = file.flag;
  table.name = file.name;
  return table;
}

/// Adds what reading the header brought up, and returns its values.
HeaderValues takeHeader(const io::SmvFile &file, HeaderOf of, const CommandLine &line,
                        LoadedInputs &loaded) {
  ImageHeader header = readHeader(file, of, line.semantics.headerLookup, loaded.options);
  loaded.warnings.insert(loaded.warnings.end(), header.warnings.begin(), header.warnings.end());
  if (header.dependsOnLookup)
    loaded.notices.push_back("header-lookup");
  return header.values;
}

/// What a file says has the ranges of flags. `before`: without it.
void refuseOutOfRange(const std::string &path, const Options &before, const Options &options) {
  try {
    checkQuantities(options, before);
  } catch (const std::invalid_argument &error) {
    throw io::FileError(path, "what it says of " + std::string(error.what()));
  }
}

} // namespace

void applyMaterials(const InputFiles &files, Inputs &inputs) {
  for (std::size_t i = 0; i < files.backgrounds.size(); ++i)
    for (auto field :
         {&MaterialOptions::thickness, &MaterialOptions::density, &MaterialOptions::molarMass})
      for (const MaterialOptions *said : {&files.material, &files.backgrounds[i].material})
        if (said->*field)
          inputs.backgrounds[i].material.*field = said->*field;
}

std::vector<PixelIndex> loadPixelList(const CommandLine &line, const Experiment &experiment) {
  const Detector &d = experiment.detector;
  if (!line.files.pixels)
    return {};
  return io::readPixelList(*line.files.pixels, io::ImageRegion::whole(d.fastPixels, d.slowPixels,
                                                                      experiment.panelCount()));
}

CompleteExperiment withoutFactors(Options options, const Inputs &inputs,
                                  std::vector<SourceRow> sources, const Semantics &semantics) {
  Inputs geometry;
  geometry.matrix = inputs.matrix;
  geometry.maskHeader = inputs.maskHeader;
  geometry.imageHeader = inputs.imageHeader;
  geometry.sources = std::move(sources);
  options.defaultF = 1;
  options.mosaicDomains = 1;
  options.oversample = 1;
  return chooseDefaults(options, geometry, semantics);
}

LoadedInputs loadInputs(const CommandLine &line, Inputs given, io::HklStore *parsed) {
  LoadedInputs loaded;
  loaded.inputs = std::move(given);
  loaded.options = line.options;
  if (line.series.shots)
    loaded.shots = io::readMaybeCompressed(*line.series.shots);
  if (line.series.lattices)
    loaded.lattices = io::readMaybeCompressed(*line.series.lattices);
  requireInputs(line, loaded);
  refuseOutputConflicts(line);
  refuseMisleadingNames(line);
  loaded.warnings = line.warnings;
  loaded.notices = line.notices;
  Inputs &inputs = loaded.inputs;
  const InputFiles &files = line.files;
  if (files.mask) {
    io::SmvFile mask = io::readSmv(*files.mask);
    inputs.maskHeader = takeHeader(mask, HeaderOf::Mask, line, loaded);
    inputs.mask = MaskImage{mask.fastPixels, mask.slowPixels, std::move(mask.pixels)};
  }
  if (files.gainMap) {
    Image map = readImage(*files.gainMap, {});
    inputs.gainMap = GainMapImage{map.fast, map.slow * map.panels, std::move(map.pixels)};
  }
  if (files.image)
    inputs.imageHeader = takeHeader(io::readSmv(*files.image), HeaderOf::Image, line, loaded);
  if (files.matrix)
    inputs.matrix = io::readMatrix(*files.matrix);
  if (files.sources)
    loadSources(*files.sources, line.semantics.columns, inputs);
  const auto load = [&](const std::optional<std::string> &path, const auto &loader) {
    if (!path)
      return;
    const Options before = loaded.options;
    loader();
    refuseOutOfRange(*path, before, loaded.options);
  };
  load(files.expt, [&] { loadExpt(line, loaded); });
  load(files.geometry, [&] { loadCrystfelGeometry(line, loaded); });
  loaded.geometryFromFile = files.expt.has_value();
  load(files.spectrum, [&] { loadSpectrum(*files.spectrum, loaded.options, inputs); });
  if (files.panels)
    loaded.options.panels = readPanels(*files.panels);
  for (const BackgroundFile &table : files.backgrounds)
    inputs.backgrounds.push_back(loadBackground(table, loaded.warnings));
  applyMaterials(files, inputs);
  if (files.hklChannels)
    loadChannels(
        *files.hklChannels,
        [&](const std::string &list) { loadReflections(list, line, parsed, loaded); }, loaded);
  else if (files.hkl)
    loadReflections(*files.hkl, line, parsed, loaded);
  else if (files.dump)
    loadDump(*files.dump, loaded);
  if (files.anomalousAtoms)
    loadAnomalousAtoms(line, loaded);
  if (isBackgroundAlone(line, inputs)) {
    // Any cell: its structure factors are 0.
    if (!loaded.options.cell && !inputs.matrix)
      loaded.options.cell = {100, 100, 100, 90, 90, 90};
  }
  requireCell(line, loaded);
  return loaded;
}

} // namespace nanobragg
