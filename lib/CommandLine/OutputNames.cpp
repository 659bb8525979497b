#include "lib/CommandLine/OutputNames.h"

#include "lib/Choose/StockMaterials.h"
#include "lib/Formats/AnomalousFiles.h"
#include "lib/Formats/StructureFactorFile.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace nanobragg {
namespace {

namespace fs = std::filesystem;

std::string extensionOf(const std::string &name) {
  std::string extension = fs::path(name).extension().string();
  if (!extension.empty())
    extension.erase(0, 1);
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return char(std::tolower(c)); });
  return extension;
}

/// An extension that promises a format, and the flags that write it, separated by blanks.
struct Format {
  std::string_view extension, name, writers;
};

constexpr Format formats[] = {
    {"npy", "an array of NumPy", "-floatfile --write-map"},
    {"mtz", "MTZ", "--write-mtz"},
    {"img", "SMV", "-intfile -noisefile"},
    {"smv", "SMV", "-intfile -noisefile"},
    {"pgm", "PGM", "-pgmfile"},
    {"png", "PNG", "--png"},
    {"cbf", "CBF", "--cbf"},
    {"tif", "TIFF", ""},
    {"tiff", "TIFF", ""},
    {"jpg", "JPEG", ""},
    {"jpeg", "JPEG", ""},
    {"gif", "GIF", ""},
    {"bmp", "BMP", ""},
    {"h5", "HDF5", "--nexus"},
    {"hdf5", "HDF5", "--nexus"},
    {"nxs", "NeXus", "--nexus"},
    {"cxi", "HDF5", ""},
    {"npz", "an archive of NumPy", ""},
    {"mccd", "a MarCCD image", ""},
    {"edf", "EDF", ""},
    {"gz", "a compressed file", ""},
    {"bz2", "a compressed file", ""},
    {"xz", "a compressed file", ""},
    {"zip", "a compressed file", ""},
};

/// An output flag and what it writes.
struct Writer {
  std::string_view flag, writes, goodName;
};

void refuseMisleadingName(const Writer &writer, const std::string &name) {
  const std::string extension = extensionOf(name);
  const auto *format = std::ranges::find(formats, extension, &Format::extension);
  if (format == std::end(formats) || format->writers.find(writer.flag) != format->writers.npos)
    return;
  std::string message = std::string(writer.flag) + ": '" + name + "' is named as " +
                        std::string(format->name) + ", but this flag writes " +
                        std::string(writer.writes) + "; ";
  if (!format->writers.empty())
    message += "give the name to " +
               std::string(format->writers.substr(0, format->writers.find(' '))) + ", or ";
  throw UsageError(message + "name it " +
                   fs::path(name).replace_extension(writer.goodName).string());
}

} // namespace

void refuseMisleadingNames(const CommandLine &line) {
  if (line.semantics.fileNames == Rule::C)
    return;
  const OutputOptions &o = line.outputs;
  refuseMisleadingName({"-floatfile", "32-bit floats without header or, as .npy, with one", ".bin"},
                       o.floatFile);
  refuseMisleadingName({"-intfile", "SMV", ".img"}, o.intFile);
  if (o.noise)
    refuseMisleadingName({"-noisefile", "SMV", ".img"}, o.noiseFile);
  if (o.pgm)
    refuseMisleadingName({"-pgmfile", "PGM", ".pgm"}, o.pgmFile);
  if (o.nexusFile)
    refuseMisleadingName({"--nexus", "HDF5", ".nxs"}, *o.nexusFile);
  if (o.cbfFile)
    refuseMisleadingName({"--cbf", "CBF", ".cbf"}, *o.cbfFile);
  if (o.pngFile)
    refuseMisleadingName({"--png", "PNG", ".png"}, *o.pngFile);
  if (o.mapFile)
    refuseMisleadingName({"--write-map", "NumPy's format", ".npy"}, *o.mapFile);
  if (o.mtzFile)
    refuseMisleadingName({"--write-mtz", "MTZ", ".mtz"}, *o.mtzFile);
}

bool wantsNpy(const CommandLine &line) {
  return line.semantics.fileNames == Rule::Right && extensionOf(line.outputs.floatFile) == "npy";
}

bool wantsText(const CommandLine &line) { return extensionOf(line.outputs.floatFile) == "txt"; }

std::string nameOfPanel(const std::string &name, std::int64_t panel) {
  fs::path path(name);
  const std::string extension = path.extension().string();
  path.replace_extension();
  return path.string() + "_panel" + std::to_string(panel) + extension;
}

namespace {

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
