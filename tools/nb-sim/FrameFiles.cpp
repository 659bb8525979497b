#include "tools/nb-sim/FrameFiles.h"

#include "lib/CommandLine/OutputFormats.h"
#include "lib/Images/CbfFile.h"
#include "lib/Files/FileError.h"
#include "lib/Images/FloatImage.h"
#include "lib/Images/ImageScaling.h"
#include "lib/Images/ImageStatistics.h"
#include "lib/Files/InterruptGuard.h"
#include "lib/Images/NpyFile.h"
#include "lib/Files/OutputFile.h"
#include "lib/Images/PgmFile.h"
#include "tools/nb-sim/PngPicture.h"
#include "tools/nb-sim/ReportHeader.h"

#include <cmath>
#include <filesystem>
#include <list>

namespace nanobragg {

namespace fs = std::filesystem;

namespace {

void writeFloats(io::OutputFile &out, std::span<const float> image, const Experiment &experiment,
                 bool npy) {
  const Detector &d = experiment.detector;
  std::vector<std::size_t> shape = {std::size_t(d.slowPixels), std::size_t(d.fastPixels)};
  if (!d.panels.empty())
    shape.insert(shape.begin(), d.panels.size());
  if (npy)
    io::writeNpy(out, shape, image);
  else
    io::writeFloatImage(out, image);
}

/// A panel's own pixels out of an image of frames of equal size.
template <typename T>
std::vector<T> cutOutPanel(std::span<const T> image, const Detector &d, std::size_t panel) {
  if (d.panels.empty())
    return {image.begin(), image.end()};
  const auto [fast, slow] = std::pair(d.panels[panel].fastPixels, d.panels[panel].slowPixels);
  std::vector<T> pixels;
  for (std::int64_t s = 0; s < slow; ++s) {
    const auto row = image.begin() + (std::int64_t(panel) * d.slowPixels + s) * d.fastPixels;
    pixels.insert(pixels.end(), row, row + fast);
  }
  return pixels;
}

} // namespace

FrameFiles::FrameFiles(const CommandLine &line, std::int64_t frames)
    : floats(isGiven(line, "-floatfile")), ints(isGiven(line, "-intfile")),
      pgm(line.outputs.pgm && isGiven(line, "-pgmfile")),
      noise(line.outputs.noise && isGiven(line, "-noisefile")), png(line.outputs.pngFile),
      cbf(line.outputs.cbfFile), map(line.outputs.mapFile), outputs(line.outputs),
      series(line.series.any()) {
  const bool none = !floats && !ints && !pgm && !noise && !png && !cbf && !outputs.nexusFile;
  if (none && line.outputs.noise)
    noise = true;
  else if (none)
    ints = true;
  while (digits < 9 && frames >= std::int64_t(std::pow(10, digits)))
    ++digits;
}

std::string FrameFiles::numbered(const std::string &name, std::int64_t frame) const {
  if (!series)
    return name;
  fs::path path(name);
  const std::string extension = path.extension().string();
  path.replace_extension();
  std::string number = std::to_string(frame);
  number.insert(0, std::size_t(std::max(0, digits - int(number.size()))), '0');
  return path.string() + "_" + number + extension;
}

std::string FrameFiles::pattern(const std::string &name) const {
  fs::path path(name);
  const std::string extension = path.extension().string();
  path.replace_extension();
  return path.string() + "_" + std::string(std::size_t(digits), '#') + extension;
}

std::string FrameFiles::imageName() const {
  if (outputs.nexusFile)
    return *outputs.nexusFile;
  return cbf      ? *outputs.cbfFile
         : noise  ? outputs.noiseFile
         : ints   ? outputs.intFile
         : floats ? outputs.floatFile
         : png    ? *outputs.pngFile
                  : outputs.pgmFile;
}

std::string FrameFiles::journalName() const {
  return fs::path(imageName()).replace_extension(".series").string();
}

std::vector<std::string> FrameFiles::given() const {
  std::vector<std::string> all;
  for (const auto &[wanted, name] :
       {std::pair(floats, outputs.floatFile), std::pair(ints, outputs.intFile),
        std::pair(pgm, outputs.pgmFile), std::pair(noise, outputs.noiseFile),
        std::pair(png, outputs.pngFile.value_or("")), std::pair(cbf, outputs.cbfFile.value_or("")),
        std::pair(map, outputs.mapFile.value_or(""))})
    if (wanted)
      all.push_back(name);
  return all;
}

std::vector<std::string> FrameFiles::names(std::int64_t frame, const Detector &detector) const {
  std::vector<std::string> all;
  const auto add = [&](bool wanted, const std::string &name, bool perPanel) {
    if (!wanted)
      return;
    if (!perPanel || detector.panels.empty())
      all.push_back(numbered(name, frame));
    else
      for (std::size_t i = 0; i < detector.panels.size(); ++i)
        all.push_back(numbered(nameOfPanel(name, std::int64_t(i)), frame));
  };
  add(floats, outputs.floatFile, false);
  add(ints, outputs.intFile, true);
  add(pgm, outputs.pgmFile, false);
  add(noise, outputs.noiseFile, true);
  add(png, outputs.pngFile.value_or(""), false);
  add(cbf, outputs.cbfFile.value_or(""), false);
  add(map, outputs.mapFile.value_or(""), false);
  return all;
}

bool FrameFiles::allThere(std::int64_t frame, const Detector &detector) const {
  std::error_code ignored;
  for (const std::string &name : names(frame, detector))
    if (!fs::is_regular_file(name, ignored))
      return false;
  return true;
}

void FrameFiles::write(std::int64_t frame, const RenderedImage &rendered, const CommandLine &line,
                       CompleteExperiment &complete, const io::DialsExperiment &description) const {
  const std::span<const float> image = rendered.pixels;
  const Experiment &e = complete.experiment;
  const Detector &d = e.detector;
  const io::ImageRegion region = io::ImageRegion::of(e);
  const std::int64_t rows = d.slowPixels * e.panelCount();
  std::list<io::OutputFile> files;
  const auto open = [&](const std::string &name) -> io::OutputFile & {
    return files.emplace_back(numbered(name, frame));
  };
  const auto writePanels = [&]<typename T>(const std::string &name, std::span<T> pixels,
                                           std::optional<double> intScale = {}) {
    for (std::int64_t i = 0; i < e.panelCount(); ++i) {
      io::SmvHeader header = headerOf(complete, line, i, intScale);
      header.wide = sizeof(T) == 4;
      io::writeSmv(open(d.panels.empty() ? name : nameOfPanel(name, i)), header,
                   cutOutPanel(std::span<const T>(pixels), d, std::size_t(i)));
    }
  };
  if (floats)
    writeFloats(open(outputs.floatFile), image, e, wantsNpy(line));
  if (cbf) {
    std::string why;
    const io::CbfHeader header = io::cbfHeaderOf(description, why);
    const std::string name = numbered(*outputs.cbfFile, frame);
    const auto bytes = io::cbfBytes(header, countsOf(rendered, line, complete));
    files.emplace_back(name).write(bytes.data(), bytes.size());
  }
  if (ints || pgm) {
    const io::ImageStatistics statistics = io::computeStatistics(image, region, d.mask);
    const double scale = io::chooseIntScale(outputs.intScale, statistics.maximum);
    if (ints) {
      const auto scaled = io::scaleToInt(image, region, scale, line.options.adcOffset);
      writePanels(outputs.intFile, std::span(scaled), scale);
    }
    const double pgmScale = io::choosePgmScale(outputs.pgmScale, statistics.rmsd, scale);
    if (pgm)
      io::writePgm(open(outputs.pgmFile), d.fastPixels, rows,
                   io::scaleToPgm(image, region, pgmScale), pgmScale);
  }
  if (noise) {
    const io::NoiseImage drawn = noiseImageOf(rendered, line, complete);
    if (drawn.wide.empty())
      writePanels(outputs.noiseFile, std::span(drawn.pixels));
    else
      writePanels(outputs.noiseFile, std::span(drawn.wide));
  }
  if (map)
    rendered.map->write(open(*outputs.mapFile));
  if (png)
    writePicture(open(*outputs.pngFile), image, complete, outputs.pngRings);
  const io::UninterruptedSection together;
  for (io::OutputFile &file : files)
    file.commit();
}

} // namespace nanobragg
