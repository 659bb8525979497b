#include "tools/nb-sim/Outputs.h"

#include "lib/IO/DumpFile.h"
#include "lib/IO/FloatImage.h"
#include "lib/IO/ImageScaling.h"
#include "lib/IO/InterruptGuard.h"
#include "lib/IO/NoiseImage.h"
#include "lib/IO/PgmFile.h"
#include "lib/IO/PngFile.h"
#include "tools/nb-sim/ReportHeader.h"

#include <filesystem>

namespace nanobragg {

Outputs::Outputs(const CommandLine &line) {
  const OutputOptions &wanted = line.outputs;
  floatFile = open(wanted.floatFile);
  intFile = open(wanted.intFile);
  if (wanted.pgm)
    pgmFile = open(wanted.pgmFile);
  if (wanted.noise)
    noiseFile = open(wanted.noiseFile);
  if (wanted.pngFile)
    pngFile = open(*wanted.pngFile);
  if (wanted.dumpFile)
    dumpFile = open(*wanted.dumpFile);
}

io::OutputFile *Outputs::open(const std::string &path) { return &files.emplace_back(path); }

void Outputs::write(std::span<const float> image, const io::ImageStatistics &statistics,
                    const CommandLine &line, CompleteExperiment &complete, std::FILE *console) {
  const OutputOptions &wanted = line.outputs;
  const Experiment &experiment = complete.experiment;
  const io::ImageRegion region = io::ImageRegion::of(experiment);
  const std::int64_t fastPixels = experiment.detector.fastPixels;
  const std::int64_t rows = experiment.detector.slowPixels * experiment.panelCount();
  const io::SmvHeader header = headerOf(complete, line);

  if (dumpFile && experiment.crystal.grid)
    io::writeDump(*dumpFile, *experiment.crystal.grid);

  std::fprintf(console, "writing %s as %zu 4-byte floats\n", wanted.floatFile.c_str(),
               image.size());
  io::writeFloatImage(*floatFile, image);

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
  std::fprintf(console, "writing %s as 2-byte integers\n", wanted.intFile.c_str());
  io::writeSmv(*intFile, header, io::scaleToInt(image, region, intScale, wanted.adcOffset));

  if (pgmFile) {
    const double scale = io::choosePgmScale(wanted.pgmScale, statistics.rmsd, intScale);
    std::fprintf(console, "pgm_scale = %g\n", scale);
    std::fprintf(console, "writing %s as 1-byte integers\n", wanted.pgmFile.c_str());
    io::writePgm(*pgmFile, fastPixels, rows, io::scaleToPgm(image, region, scale), scale);
  }
  if (noiseFile) {
    const io::NoiseImage noise =
        io::drawNoise(image, region, {experiment.detector.gain, experiment.detector.gainMap.values},
                      wanted.adcOffset, line.semantics.noiseWrap, complete.random,
                      complete.noiseSeed);
    std::fprintf(console, "%.0f photons on noise image (%ld overloads)\n", noise.photons,
                 long(noise.overloads));
    std::fprintf(console, "writing %s as 2-byte integers\n", wanted.noiseFile.c_str());
    io::writeSmv(*noiseFile, header, noise.pixels);
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
