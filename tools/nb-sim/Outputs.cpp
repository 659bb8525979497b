#include "tools/nb-sim/Outputs.h"

#include "lib/CommandLine/OutputNames.h"
#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Files/InterruptGuard.h"
#include "lib/Files/RowWriter.h"
#include "lib/Formats/DumpFile.h"
#include "lib/Images/ImageScaling.h"
#include "lib/Images/NpyFile.h"
#include "lib/Images/PngFile.h"
#include "lib/Images/SmvFile.h"
#include "lib/Picture/Annotations.h"
#include "lib/Quantities/Printable.h"
#include "tools/nb-sim/FrameFiles.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>

namespace nanobragg {

namespace {

/// The header of the image, or of one panel of several: an SMV file has one beam centre. With
/// -compat c the header that the C program writes. By default its beam centre is the one that dxtbx
/// reads right, and it tells the pedestal.
io::SmvHeader headerOf(const CompleteExperiment &complete, const CommandLine &line,
                       std::int64_t panel, std::optional<double> intScale) {
  const Experiment &experiment = complete.experiment;
  const Detector &detector = experiment.detector;
  const bool several = !detector.panels.empty();
  const DetectorReport d =
      several ? placePanel(detector, experiment.beam.direction, complete.report.detector,
                           detector.panels[std::size_t(panel)])
              : complete.report.detector;
  const double pixel = detector.pixelSize;
  const bool c = line.semantics.isC();
  constexpr double mm = 1000;

  io::SmvHeader header;
  header.form = c ? Rule::C : Rule::Right;
  header.fastPixels =
      several ? detector.panels[std::size_t(panel)].fastPixels : detector.fastPixels;
  header.slowPixels =
      several ? detector.panels[std::size_t(panel)].slowPixels : detector.slowPixels;
  header.pixelSize = pixel * mm;
  header.distance = d.distance * mm;
  header.closeDistance = d.closeDistance * mm;
  header.wavelength = complete.report.wavelength * 1e10;
  if (c && !several) { // the C program has no panels
    header.beamCenterX = d.xBeam * mm;
    header.beamCenterY = d.yBeam * mm;
  } else {
    io::setDxtbxBeamCenter(header, d.fBeam * mm, d.sBeam * mm);
    header.adcOffset = line.options.adcOffset;
    header.intScale = intScale;
  }
  header.adxvCenterX = d.fBeam * mm;
  header.adxvCenterY = (d.detSizeSlow - d.sBeam) * mm;
  header.mosflmCenterX = (d.sBeam - 0.5 * pixel) * mm;
  header.mosflmCenterY = (d.fBeam - 0.5 * pixel) * mm;
  header.denzoBeamX = d.sBeam * mm;
  header.denzoBeamY = d.fBeam * mm;
  header.dialsOrigin = d.dialsOrigin;
  header.xdsOrgX = d.orgX;
  header.xdsOrgY = d.orgY;
  header.phi = units::degrees(complete.report.phi0);
  header.oscRange = units::degrees(complete.report.osc);
  header.twotheta = units::degrees(complete.report.twotheta);
  return header;
}

/// On a logarithmic scale, spots dark; several panels as they stand in space. `rings`: with
/// resolutions and a scale bar. Throws io::FileError.
void writePicture(io::OutputFile &out, std::span<const float> image,
                  const CompleteExperiment &complete, bool rings) {
  const Detector &d = complete.experiment.detector;
  const std::vector<std::uint8_t> tones = io::logTones(image, io::chooseToneLimits(image));
  if (d.panels.empty() && !rings) {
    io::writePng(out, d.fastPixels, d.slowPixels, tones, io::Palette::Film);
    return;
  }
  const Layout layout(complete);
  Picture picture = layout.draw(tones);
  if (rings)
    annotate(picture, layout, complete, chooseRings(layout, complete));
  io::writePng(out, picture.width, picture.height, picture.tones, io::Palette::Film);
}

std::vector<std::size_t> shapeOf(const Experiment &experiment) {
  const Detector &d = experiment.detector;
  std::vector<std::size_t> shape = {std::size_t(d.slowPixels), std::size_t(d.fastPixels)};
  if (!d.panels.empty())
    shape.insert(shape.begin(), d.panels.size());
  return shape;
}

/// Converts rows of the image, counted through all panels: begin, end, pixels of each, room for
/// them.
template <typename T>
using MakeRows = std::function<void(std::int64_t, std::int64_t, std::int64_t, T *)>;

/// A panel's own pixels out of an image of frames of equal size, as SMV, which has one geometry.
template <typename T>
void addPanels(io::RowWriter &writer, std::span<io::OutputFile *const> files,
               const MakeRows<T> &rows, const CompleteExperiment &complete, const CommandLine &line,
               std::FILE *console, std::optional<double> intScale = {}) {
  const std::int64_t rowsOfFrame = complete.experiment.detector.slowPixels;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::fprintf(console, "writing %s as %zu-byte integers\n", printable(files[i]->path()).c_str(),
                 sizeof(T));
    io::SmvHeader header = headerOf(complete, line, std::int64_t(i), intScale);
    header.wide = sizeof(T) == 4;
    writer.add(*files[i], smvHeaderText(header), header.slowPixels,
               std::size_t(header.fastPixels) * sizeof(T),
               [=, first = std::int64_t(i) * rowsOfFrame,
                width = header.fastPixels](std::int64_t begin, std::int64_t end, void *room) {
                 rows(first + begin, first + end, width, static_cast<T *>(room));
                 return room;
               });
  }
}

template <typename T>
MakeRows<T> copyRows(const std::vector<T> &pixels, std::int64_t fastPixels) {
  return [&pixels, fastPixels](std::int64_t begin, std::int64_t end, std::int64_t width, T *out) {
    for (std::int64_t row = begin; row != end; ++row, out += width)
      std::copy_n(pixels.begin() + row * fastPixels, width, out);
  };
}

} // namespace

static std::vector<std::string> namesOfPanels(const std::string &path, const Detector &detector) {
  if (detector.panels.empty())
    return {path};
  // A device such as /dev/null takes them all.
  std::error_code ignored;
  const bool device =
      std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < detector.panels.size(); ++i)
    names.push_back(device ? path : nameOfPanel(path, std::int64_t(i)));
  return names;
}

ImageNames ImageNames::of(const OutputOptions &wanted, const Detector &detector) {
  ImageNames names;
  names.floats = wanted.floatFile;
  names.ints = namesOfPanels(wanted.intFile, detector);
  if (wanted.pgm)
    names.pgm = wanted.pgmFile;
  if (wanted.noise)
    names.noise = namesOfPanels(wanted.noiseFile, detector);
  names.png = wanted.pngFile.value_or("");
  names.map = wanted.mapFile.value_or("");
  names.dump = wanted.dumpFile.value_or("");
  std::vector<std::string> all = {names.floats, names.pgm, names.png, names.map, names.dump};
  all.insert(all.end(), names.ints.begin(), names.ints.end());
  all.insert(all.end(), names.noise.begin(), names.noise.end());
  for (const std::string &name : all)
    if (!name.empty())
      io::OutputFile::refuseFrameOfOther(name);
  return names;
}

Outputs::Outputs(const ImageNames &names) {
  floatFile = open(names.floats);
  for (const std::string &name : names.ints)
    intFiles.push_back(open(name));
  pgmFile = open(names.pgm);
  for (const std::string &name : names.noise)
    noiseFiles.push_back(open(name));
  pngFile = open(names.png);
  mapFile = open(names.map);
  dumpFile = open(names.dump);
}

io::OutputFile *Outputs::open(const std::string &path) {
  return path.empty() ? nullptr : &files.emplace_back(path);
}

void Outputs::write(const RenderedImage &rendered, const io::ImageStatistics &statistics,
                    const CommandLine &line, CompleteExperiment &complete, std::FILE *console,
                    int threads) {
  const std::span<const float> image = rendered.pixels;
  const OutputOptions &wanted = line.outputs;
  const Experiment &experiment = complete.experiment;
  const io::ImageRegion region = io::ImageRegion::of(experiment);
  const std::int64_t fastPixels = experiment.detector.fastPixels;
  const std::int64_t rows = experiment.detector.slowPixels * experiment.panelCount();

  if (dumpFile && experiment.crystal.grid)
    io::writeDump(*dumpFile, *experiment.crystal.grid);

  io::RowWriter writer;
  if (floatFile) {
    std::fprintf(console, "writing %s as %zu 4-byte floats\n", printable(wanted.floatFile).c_str(),
                 image.size());
    writer.add(*floatFile, wantsNpy(line) ? io::npyHeader(shapeOf(experiment)) : "", rows,
               std::size_t(fastPixels) * sizeof(float),
               [=](std::int64_t begin, std::int64_t, void *) {
                 return &image[std::size_t(begin * fastPixels)];
               });
  }

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
  addPanels<std::uint16_t>(
      writer, intFiles,
      [=, offset = line.options.adcOffset](std::int64_t begin, std::int64_t end, std::int64_t width,
                                           std::uint16_t *out) {
        io::scaleRowsToInt(image, region, begin, end, width, intScale, offset, out);
      },
      complete, line, console, intScale);

  if (pgmFile) {
    const double scale = io::choosePgmScale(wanted.pgmScale, statistics.rmsd, intScale);
    std::fprintf(console, "pgm_scale = %g\n", scale);
    std::fprintf(console, "writing %s as 1-byte integers\n", printable(wanted.pgmFile).c_str());
    writer.add(*pgmFile, io::pgmHeader(fastPixels, rows, scale), rows, std::size_t(fastPixels),
               [=](std::int64_t begin, std::int64_t end, void *room) {
                 io::scaleRowsToPgm(image, region, begin, end, fastPixels, scale,
                                    static_cast<std::uint8_t *>(room));
                 return room;
               });
  }
  io::NoiseImage noise;
  if (!noiseFiles.empty()) {
    noise = noiseImageOf(rendered, line, complete);
    std::fprintf(console, "%.0f photons on noise image (%ld overloads)\n", noise.photons,
                 long(noise.overloads));
    if (noise.wide.empty())
      addPanels(writer, noiseFiles, copyRows(noise.pixels, fastPixels), complete, line, console);
    else
      addPanels(writer, noiseFiles, copyRows(noise.wide, fastPixels), complete, line, console);
  }
  writer.run(threads);
  if (mapFile)
    rendered.map->write(*mapFile);
  if (pngFile) {
    std::fprintf(console, "writing %s as a picture on a log scale\n",
                 printable(*wanted.pngFile).c_str());
    writePicture(*pngFile, image, complete, wanted.pngRings);
  }
}

void Outputs::publish() {
  const io::UninterruptedSection together;
  for (io::OutputFile &file : files)
    file.commit();
}

std::vector<std::string> Outputs::absolutePaths() const {
  std::vector<std::string> paths;
  for (const io::OutputFile &file : files)
    paths.push_back(absoluteName(file.path()));
  return paths;
}

} // namespace nanobragg
