#include "lib/Inputs/LoadInputs.h"

#include "lib/Choose/Defaults.h"
#include "lib/Choose/StockMaterials.h"
#include "lib/Estimate/AverageError.h"
#include "lib/Estimate/SamplingError.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/DumpFile.h"
#include "lib/Formats/HklFile.h"
#include "lib/Formats/TextFiles.h"
#include "lib/Images/ImageFile.h"
#include "lib/Images/PixelListFile.h"
#include "lib/Images/SmvFile.h"
#include "lib/Inputs/AnomalousInput.h"
#include "lib/Inputs/DialsInput.h"
#include "lib/Inputs/FactorsByEnergyInput.h"
#include "lib/Inputs/ImageHeader.h"
#include "lib/Inputs/PanelFile.h"
#include "lib/Inputs/SpectrumInput.h"
#include "lib/Inputs/StructureFactorInput.h"
#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/QuantityRows.h"
#include "lib/Quantities/UsageError.h"

#include <filesystem>

namespace nanobragg {
namespace {

/// The file that the C program reads when no -hkl is given, whichever run left it behind.
constexpr const char *cDumpFile = "Fdump.bin";

/// Where nothing else says it, the cell of the first still is that of the run.
void requireCell(const ExperimentRequest &request, LoadedInputs &loaded) {
  const auto known = [&] {
    return request.files.matrix || loaded.inputs.hasMatrix() || loaded.options.cell;
  };
  if (!known() && request.eachStill)
    request.eachStill(loaded.options, [&](const Options &still) {
      loaded.options.cell = still.cell;
      return false;
    });
  if (!known())
    throw UsageError((request.files.expt ? *request.files.expt + " has no crystal, and so there is "
                                         : std::string()) +
                     request.noCell);
}

/// Is there nothing of a crystal, but a background?
bool isBackgroundAlone(const ExperimentRequest &request, const Inputs &given) {
  const InputFiles &files = request.files;
  return (!files.backgrounds.empty() || !given.backgrounds.empty()) && !files.hkl &&
         !files.hklChannels && !files.dump && !files.expt && !given.grid &&
         request.options.defaultF == 0;
}

void requireInputs(const ExperimentRequest &request, LoadedInputs &loaded) {
  const Inputs &given = loaded.inputs;
  if (request.files.anomalousTable && !request.files.anomalousAtoms)
    throw UsageError(
        "--anomalous-table has f' and f'' of atoms without positions; give --anomalous-atoms, too");
  if (request.files.anomalousAtoms && !request.files.hkl)
    throw UsageError(
        "--anomalous-atoms needs structure factors with phases; give them with -hkl FILE");
  if (isBackgroundAlone(request, given))
    return;
  if (!request.files.hkl && !request.files.hklChannels &&
      !request.files.expt) // which may bring the cell
    requireCell(request, loaded);
  if (request.files.hkl || request.files.hklChannels || request.files.dump || given.grid ||
      request.options.defaultF != 0)
    return;
  std::error_code ignored;
  const bool left = std::filesystem::exists(cDumpFile, ignored);
  throw UsageError(request.noFactors +
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
                              " reflections are listed again; the last of each is used");
  if (file.moreColumns > 0)
    loaded.warnings.push_back(path + ": line " + std::to_string(file.moreColumns) +
                              " has more than the four columns h k l F; what follows F, also on "
                              "other lines, is not used" +
                              (io::hasShelxColumns(content)
                                   ? ". If it is a list of SHELX, the fourth are F^2: put the .ins "
                                     "file of the same name beside it"
                                   : ""));
  loaded.inputs.grid = std::make_shared<HklGrid>(std::move(file.grid));
}

void loadReflections(const std::string &name, const ExperimentRequest &request,
                     io::HklStore *parsed, LoadedInputs &loaded) {
  if (const auto models = io::weightedModels(name); !models.empty())
    return loadWeightedModels(models, request, loaded);
  const io::NameAndLabel file = io::splitLabel(name);
  const std::string content = io::readMaybeCompressed(file.name);
  const io::StructureFactorFormat format = io::formatOf(file.name, content);
  if (format == io::StructureFactorFormat::Text && request.files.anomalousAtoms)
    loadPhasedHkl(file.name, content, loaded);
  else if (format == io::StructureFactorFormat::Text && file.label.empty())
    loadHklText(name, content, parsed, loaded);
  else
    loadCrystallographicFile(file, content, format, request, loaded);
}

void loadDump(const std::string &path, LoadedInputs &loaded) {
  HklGrid grid = io::readDump(path);
  loaded.reflections = grid.values.size();
  loaded.inputs.grid = std::make_shared<HklGrid>(std::move(grid));
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
HeaderValues takeHeader(const io::SmvFile &file, HeaderOf of, const ExperimentRequest &request,
                        LoadedInputs &loaded) {
  ImageHeader header = readHeader(file, of, request.semantics.headerLookup, loaded.options);
  loaded.warnings.insert(loaded.warnings.end(), header.warnings.begin(), header.warnings.end());
  if (header.dependsOnLookup)
    loaded.notices.push_back("header-lookup");
  return header.values;
}

/// Values of a file have the ranges of flags. `before`: without it.
void refuseOutOfRange(const std::string &path, const Options &before, const Options &options) {
  try {
    checkQuantities(options, before);
  } catch (const std::invalid_argument &error) {
    throw io::FileError(path, "what it says of " + std::string(error.what()));
  }
}

/// A problem with values of a file, with the file's name. `problem` begins with the flag that
/// says the same.
std::string withFile(const InputFiles &files, std::string problem) {
  const struct {
    std::string flag, spelling;
    const std::optional<std::string> &file;
  } candidates[] = {{"-mat", "-mat", files.matrix},
                    {"-mat", "--expt", files.expt},
                    {"-sourcefile", "-sourcefile", files.sources},
                    {"-sourcefile", "--spectrum", files.spectrum},
                    {"--efficiency", "--efficiency", files.efficiency},
                    {"-mask", "-mask", files.mask},
                    {"-mask", "--expt", files.expt},
                    {"-mask", "--geom", files.geometry},
                    {"-gain_map", "-gain_map", files.gainMap},
                    {"-gain_map", "--expt", files.expt}};
  for (const auto &[flag, spelling, file] : candidates)
    if (file && problem.starts_with(flag + ": "))
      return problem.replace(0, flag.size(), spelling + " " + *file);
  return problem;
}

} // namespace

bool CallerFirst::isNamed(bool there, std::string_view flag, const char *what) {
  return there && decides(inWordsOf(request.caller, std::string(flag)), what);
}

bool CallerFirst::decides(const std::string &name, const char *what) {
  loaded.remarks.push_back(name + " decides " + what + ", not " + path);
  return true;
}

CompleteExperiment completeExperiment(const ExperimentRequest &request,
                                      const LoadedInputs &loaded) {
  const auto translated = [&](const std::string &text) { return inWordsOf(request.caller, text); };
  try {
    CompleteExperiment complete =
        chooseDefaults(loaded.options, loaded.inputs, request.semantics, request.caller);
    for (const auto &more : {coarseSampling(complete.experiment, complete.report),
                             inexactAverage(complete.experiment, complete.report)})
      if (more)
        complete.warnings.push_back(*more);
    for (auto *texts : {&complete.warnings, &complete.notes})
      for (std::string &text : *texts)
        text = translated(text);
    return complete;
  } catch (const std::invalid_argument &error) {
    throw std::invalid_argument(translated(withFile(request.files, error.what())));
  }
}

void applyMaterials(const InputFiles &files, Inputs &inputs) {
  const std::size_t fromMemory = inputs.backgrounds.size() - files.backgrounds.size();
  for (std::size_t i = 0; i < files.backgrounds.size(); ++i)
    for (auto field :
         {&MaterialOptions::thickness, &MaterialOptions::density, &MaterialOptions::molarMass})
      for (const MaterialOptions *said : {&files.material, &files.backgrounds[i].material})
        if (said->*field)
          inputs.backgrounds[fromMemory + i].material.*field = said->*field;
}

std::vector<PixelIndex> loadPixelList(const InputFiles &files, const Experiment &experiment) {
  const Detector &d = experiment.detector;
  if (!files.pixels)
    return {};
  return io::readPixelList(
      *files.pixels, io::ImageRegion::whole(d.fastPixels, d.slowPixels, experiment.panelCount()));
}

CompleteExperiment withoutFactors(Options options, const Inputs &inputs,
                                  std::vector<SourceRow> sources, const Semantics &semantics) {
  Inputs geometry;
  geometry.matrix = inputs.matrix;
  geometry.mosflmMatrix = inputs.mosflmMatrix;
  geometry.maskHeader = inputs.maskHeader;
  geometry.imageHeader = inputs.imageHeader;
  geometry.sources = std::move(sources);
  options.defaultF = 1;
  options.mosaicDomains = 1;
  options.oversample = 1;
  options.spectrumBetween.reset(); // whoever needs the spectrum has it in the inputs
  return chooseDefaults(options, geometry, semantics);
}

LoadedInputs loadInputs(const ExperimentRequest &request, io::HklStore *parsed) {
  LoadedInputs loaded;
  loaded.inputs = request.inputs;
  loaded.options = request.options;
  requireInputs(request, loaded);
  Inputs &inputs = loaded.inputs;
  const InputFiles &files = request.files;
  if (files.mask) {
    io::SmvFile mask = io::readSmv(*files.mask);
    inputs.maskHeader = takeHeader(mask, HeaderOf::Mask, request, loaded);
    inputs.mask = MaskImage{mask.fastPixels, mask.slowPixels, std::move(mask.pixels)};
  }
  if (files.gainMap) {
    Image map = readImage(*files.gainMap, {});
    inputs.gainMap = GainMapImage{map.fast, map.slow * map.panels, std::move(map.pixels)};
  }
  if (files.image)
    inputs.imageHeader = takeHeader(io::readSmv(*files.image), HeaderOf::Image, request, loaded);
  if (files.matrix)
    inputs.mosflmMatrix = io::readMatrix(*files.matrix);
  if (files.sources)
    loadSources(*files.sources, request.semantics.columns, inputs);
  const auto load = [&](const std::optional<std::string> &path, const auto &loader) {
    if (!path)
      return;
    const Options before = loaded.options;
    loader();
    refuseOutOfRange(*path, before, loaded.options);
  };
  load(files.expt, [&] { loadExpt(request, loaded); });
  load(files.geometry, [&] { loadCrystfelGeometry(request, loaded); });
  if (!request.panels.empty() && !files.expt && !files.geometry)
    placeOwnPanels(request, loaded);
  loaded.geometryFromFile = files.expt.has_value();
  load(files.spectrum, [&] {
    loadSpectrum(request, request.manyImages ? std::optional<std::size_t>(0) : std::nullopt,
                 loaded);
  });
  if (files.efficiency)
    loadEfficiency(*files.efficiency, inputs);
  if (files.sensorMaterial)
    loadSensorMaterial(request, inputs);
  if (files.panels)
    loaded.options.panels = readPanels(*files.panels);
  for (const BackgroundFile &table : files.backgrounds)
    inputs.backgrounds.push_back(loadBackground(table, loaded.warnings));
  applyMaterials(files, inputs);
  if (files.hklChannels)
    loadChannels(
        *files.hklChannels,
        [&](const std::string &list) { loadReflections(list, request, parsed, loaded); }, loaded);
  else if (files.hkl)
    loadReflections(*files.hkl, request, parsed, loaded);
  else if (files.dump)
    loadDump(*files.dump, loaded);
  if (files.anomalousAtoms)
    loadAnomalousAtoms(request, loaded);
  if (isBackgroundAlone(request, inputs)) {
    // Any cell: its structure factors are 0.
    if (!loaded.options.cell && !inputs.hasMatrix())
      loaded.options.cell = flagUnit::inSI<6>(flagUnit::cell, {100, 100, 100, 90, 90, 90});
  }
  requireCell(request, loaded);
  return loaded;
}

} // namespace nanobragg
