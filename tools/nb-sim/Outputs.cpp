#include "tools/nb-sim/Outputs.h"

#include "lib/CommandLine/OutputFormats.h"
#include "lib/IO/DumpFile.h"
#include "lib/IO/FloatImage.h"
#include "lib/IO/ImageScaling.h"
#include "lib/IO/InterruptGuard.h"
#include "lib/IO/NoiseImage.h"
#include "lib/IO/NpyFile.h"
#include "lib/IO/PgmFile.h"
#include "lib/IO/PngFile.h"
#include "tools/nb-sim/ReportHeader.h"

#include <filesystem>

namespace nanobragg {

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
std::vector<std::uint16_t> cutOut(std::span<const std::uint16_t> image, const Detector &d,
                                  std::size_t panel) {
  if (d.panels.empty())
    return {image.begin(), image.end()};
  const auto [fast, slow] = std::pair(d.panels[panel].fastPixels, d.panels[panel].slowPixels);
  std::vector<std::uint16_t> pixels;
  for (std::int64_t s = 0; s < slow; ++s) {
    const auto row = image.begin() + (std::int64_t(panel) * d.slowPixels + s) * d.fastPixels;
    pixels.insert(pixels.end(), row, row + fast);
  }
  return pixels;
}

void writePanels(std::span<io::OutputFile *const> files, std::span<const std::uint16_t> image,
                 const CompleteExperiment &complete, const CommandLine &line, std::FILE *console) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::fprintf(console, "writing %s as 2-byte integers\n", files[i]->path().c_str());
    io::writeSmv(*files[i], headerOf(complete, line, std::int64_t(i)),
                 cutOut(image, complete.experiment.detector, i));
  }
}

} // namespace

Outputs::Outputs(const CommandLine &line, const Detector &detector) {
  const OutputOptions &wanted = line.outputs;
  floatFile = open(wanted.floatFile);
  intFiles = openPanels(wanted.intFile, detector);
  if (wanted.pgm)
    pgmFile = open(wanted.pgmFile);
  if (wanted.noise)
    noiseFiles = openPanels(wanted.noiseFile, detector);
  if (wanted.pngFile)
    pngFile = open(*wanted.pngFile);
  if (wanted.dumpFile)
    dumpFile = open(*wanted.dumpFile);
}

io::OutputFile *Outputs::open(const std::string &path) { return &files.emplace_back(path); }

std::vector<io::OutputFile *> Outputs::openPanels(const std::string &path,
                                                  const Detector &detector) {
  if (detector.panels.empty())
    return {open(path)};
  std::vector<io::OutputFile *> opened;
  // A device such as /dev/null takes them all.
  std::error_code ignored;
  const bool device =
      std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  for (std::size_t i = 0; i < detector.panels.size(); ++i)
    opened.push_back(open(device ? path : nameOfPanel(path, std::int64_t(i))));
  return opened;
}

void Outputs::write(std::span<const float> image, const io::ImageStatistics &statistics,
                    const CommandLine &line, CompleteExperiment &complete, std::FILE *console) {
  const OutputOptions &wanted = line.outputs;
  const Experiment &experiment = complete.experiment;
  const io::ImageRegion region = io::ImageRegion::of(experiment);
  const std::int64_t fastPixels = experiment.detector.fastPixels;
  const std::int64_t rows = experiment.detector.slowPixels * experiment.panelCount();

  if (dumpFile && experiment.crystal.grid)
    io::writeDump(*dumpFile, *experiment.crystal.grid);

  std::fprintf(console, "writing %s as %zu 4-byte floats\n", wanted.floatFile.c_str(),
               image.size());
  writeFloats(*floatFile, image, experiment, wantsNpy(line));

  const auto center = [&](std::int64_t pixel) {
    return io::lastSubpixelCenter(pixel, experiment.detector.pixelSize,
                                  experiment.detector.oversample);
  };
  std::fprintf(console, "max_I = %g  at %g %g\n", statistics.maximum,
               statistics.found ? center(statistics.maximumFast) : 0,
               statistics.found ? center(statistics.maximumSlow) : 0);
  std::fprintf(console, "mean= %g rms= %g rmsd= %g\n", statistics.mean, statistics.rms,
               statistics.rmsd);
  const double intScale = io::chooseIntScale(wanted.intScale, statistics.maximum);
  std::fprintf(console, "intfile_scale = %g\n", intScale);
  writePanels(intFiles, io::scaleToInt(image, region, intScale, wanted.adcOffset), complete, line,
              console);

  if (pgmFile) {
    const double scale = io::choosePgmScale(wanted.pgmScale, statistics.rmsd, intScale);
    std::fprintf(console, "pgm_scale = %g\n", scale);
    std::fprintf(console, "writing %s as 1-byte integers\n", wanted.pgmFile.c_str());
    io::writePgm(*pgmFile, fastPixels, rows, io::scaleToPgm(image, region, scale), scale);
  }
  if (!noiseFiles.empty()) {
    const io::NoiseImage noise =
        io::drawNoise(image, region, {experiment.detector.gain, experiment.detector.gainMap.values},
                      wanted.adcOffset, line.semantics.noiseWrap, complete.random,
                      complete.noiseSeed);
    std::fprintf(console, "%.0f photons on noise image (%ld overloads)\n", noise.photons,
                 long(noise.overloads));
    writePanels(noiseFiles, noise.pixels, complete, line, console);
  }
  if (pngFile) {
    std::fprintf(console, "writing %s as a picture on a log scale\n", wanted.pngFile->c_str());
    io::writePng(*pngFile, fastPixels, rows, io::logTones(image, io::chooseToneLimits(image)),
                 io::Palette::Film);
  }
}

void Outputs::publish() {
  const io::UninterruptedSection together;
  for (io::OutputFile &file : files)
    file.commit();
}

std::vector<std::string> Outputs::absolutePaths() const {
  std::vector<std::string> paths;
  for (const io::OutputFile &file : files) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(file.path(), error);
    paths.push_back(error ? file.path() : absolute.lexically_normal().string());
  }
  return paths;
}

} // namespace nanobragg
