#include "lib/CommandLine/OutputConflicts.h"

#include "lib/Choose/StockMaterials.h"

#include "lib/Formats/AnomalousFiles.h"
#include "lib/Formats/StructureFactorFile.h"

#include <filesystem>

namespace nanobragg {
namespace {

namespace fs = std::filesystem;

struct NamedFile {
  std::string flag;
  std::string path;
};

void add(std::vector<NamedFile> &files, const char *flag, const std::optional<std::string> &path) {
  if (path)
    files.push_back({flag, *path});
}

std::vector<NamedFile> outputsOf(const CommandLine &line) {
  const OutputOptions &o = line.outputs;
  std::vector<NamedFile> files{{"-floatfile", o.floatFile}, {"-intfile", o.intFile}};
  if (o.pgm)
    files.push_back({"-pgmfile", o.pgmFile});
  if (o.noise)
    files.push_back({"-noisefile", o.noiseFile});
  add(files, "--png", o.pngFile);
  add(files, "--cbf", o.cbfFile);
  add(files, "--nexus", o.nexusFile);
  add(files, "--write-expt", o.exptFile);
  add(files, "--write-refl", o.reflFile);
  add(files, "--reflections", o.reflectionsFile);
  add(files, "--write-shots", o.shotsFile);
  add(files, "--write-stream", o.streamFile);
  add(files, "--write-mtz", o.mtzFile);
  add(files, "--write-map", o.mapFile);
  add(files, "-dump", o.dumpFile);
  add(files, "--timing", line.tool.timingFile);
  add(files, "--trace-events", line.tool.traceFile);
  return files;
}

std::vector<NamedFile> inputsOf(const CommandLine &line) {
  const InputFiles &f = line.files;
  std::vector<NamedFile> files;
  if (f.hkl) {
    const auto models = io::weightedModels(*f.hkl);
    for (const io::NameAndWeight &model : models)
      files.push_back({"-hkl", model.name});
    if (models.empty())
      files.push_back({"-hkl", io::splitLabel(*f.hkl).name});
  }
  add(files, "--hkl-channels", f.hklChannels);
  std::error_code ignored;
  if (f.hklChannels && fs::is_regular_file(*f.hklChannels, ignored))
    for (const io::ChannelFile &channel : io::readChannels(*f.hklChannels))
      files.push_back({"--hkl-channels", io::splitLabel(channel.hkl).name});
  if (f.anomalousAtoms)
    files.push_back({"--anomalous-atoms", io::splitLabel(*f.anomalousAtoms).name});
  add(files, "--anomalous-table", f.anomalousTable);
  add(files, "-mat", f.matrix);
  add(files, "-sourcefile", f.sources);
  add(files, "-img", f.image);
  add(files, "-mask", f.mask);
  add(files, "-gain_map", f.gainMap);
  add(files, "--panels", f.panels);
  if (f.expt)
    files.push_back({"--expt", exptNameOf(*f.expt).path});
  add(files, "--geom", f.geometry);
  add(files, "--spectrum", f.spectrum);
  add(files, "--efficiency", f.efficiency);
  add(files, "--shots", line.series.shots);
  add(files, "--lattices", line.series.lattices);
  add(files, "--pixels", f.pixels);
  for (const BackgroundFile &table : f.backgrounds)
    if (!stockMaterial(table.name))
      files.push_back({std::string(table.flag), table.name});
  if (!f.hkl)
    add(files, "-dump", f.dump);
  return files;
}

/// Devices such as /dev/null may be named as often as one likes.
bool sameFile(const std::string &a, const std::string &b) {
  std::error_code ignored;
  if (fs::exists(a, ignored) && !fs::is_regular_file(a, ignored))
    return false;
  return fs::path(a).lexically_normal() == fs::path(b).lexically_normal() ||
         fs::equivalent(a, b, ignored);
}

} // namespace

std::vector<std::string> inputsRead(const CommandLine &line) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const NamedFile &input : inputsOf(line))
    if (fs::is_regular_file(input.path, ignored))
      paths.push_back(input.path);
  return paths;
}

void refuseOutputConflicts(const CommandLine &line) {
  const std::vector<NamedFile> outputs = outputsOf(line);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty())
      throw UsageError(std::string(outputs[i].flag) + ": the file name is empty; give a name");
    for (std::size_t j = i + 1; j < outputs.size(); ++j)
      if (sameFile(outputs[i].path, outputs[j].path))
        throw UsageError(std::string(outputs[i].flag) + " and " + outputs[j].flag +
                         " would both write '" + outputs[j].path + "'; give them different names");
    for (const NamedFile &input : inputsOf(line))
      if (sameFile(outputs[i].path, input.path))
        throw UsageError(std::string(outputs[i].flag) + " would overwrite '" + input.path +
                         "', which " + input.flag + " reads; give another name");
  }
}

} // namespace nanobragg
