#include "lib/CommandLine/OutputFormats.h"

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

} // namespace nanobragg
