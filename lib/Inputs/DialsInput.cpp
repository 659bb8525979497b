#include "lib/Inputs/DialsInput.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/IO/CrystfelGeometry.h"
#include "lib/IO/ExptFile.h"
#include "lib/IO/FileError.h"
#include "lib/Inputs/DialsPixels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace nanobragg {
namespace {

Vec3 applied(const Mat3 &m, const Vec3 &v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
          m[6] * v[0] + m[7] * v[1] + m[8] * v[2]};
}

/// Tells which flags have decided what the file says too.
class FlagsFirst {
public:
  FlagsFirst(const CommandLine &line, const std::string &path, LoadedInputs &loaded)
      : line(line), path(path), loaded(loaded) {}

  bool anyOf(std::initializer_list<std::string_view> names, const char *what) {
    for (const std::string_view name : names)
      if (isGiven(line, name)) {
        loaded.remarks.push_back(std::string(name) + " decides " + what + ", not " + path);
        return true;
      }
    return false;
  }

private:
  const CommandLine &line;
  const std::string &path;
  LoadedInputs &loaded;
};

void refuseConventions(const CommandLine &line, const std::string &path) {
  for (const std::string_view name : {"-mosflm", "-xds", "-adxv", "-denzo", "-dials"})
    if (isGiven(line, name))
      throw UsageError(std::string(name) + " chooses a frame, and " + path +
                       " has its own; leave " + std::string(name) + " out");
  for (const std::string_view name : {"--panels", "-img"})
    if (isGiven(line, name))
      throw UsageError(std::string(name) + " and " + path +
                       " both say where the detector is; leave one of them out");
}

/// The panel that the beam meets, else the first.
std::size_t referencePanel(const std::vector<io::DialsPanel> &panels, const Vec3 &beam) {
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const io::DialsPanel &p = panels[i];
    const Vec3 normal = cross(p.fast, p.slow);
    const double cosine = dot(beam, normal), away = dot(p.origin, normal);
    if (std::fabs(cosine) < 1e-6 || away / cosine <= 0)
      continue;
    const Vec3 met = difference(scaled(beam, away / cosine), p.origin);
    const double f = dot(met, p.fast) / p.pixelSize[0], s = dot(met, p.slow) / p.pixelSize[1];
    if (f >= 0 && f <= double(p.pixels[0]) && s >= 0 && s <= double(p.pixels[1]))
      return i;
  }
  return 0;
}

/// The mask file of an experiment: as it is named, or beside the list.
std::string maskFileOf(const io::DialsExperiment &e, const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path beside = fs::path(path).parent_path() / e.mask;
  return !fs::exists(e.mask, ignored) && fs::exists(beside, ignored) ? beside.string() : e.mask;
}

void takeSensor(const std::string &path, const std::vector<io::DialsPanel> &panels,
                const CommandLine &line, LoadedInputs &loaded) {
  const io::DialsPanel &first = panels.front();
  if (!first.parallax || !(first.thickness > 0) || !(first.mu > 0))
    return;
  FlagsFirst flags(line, path, loaded);
  if (flags.anyOf({"-detector_thick", "-detector_abs"}, "the sensor"))
    return;
  loaded.options.thickness = first.thickness * 1000;
  loaded.options.attenuationDepth = 1000 / first.mu;
  if (std::ranges::any_of(panels, [&](const io::DialsPanel &p) {
        return p.thickness != first.thickness || p.mu != first.mu;
      }))
    loaded.warnings.push_back(path +
                              ": its panels have different sensors; all get that of the first");
}

/// A polychromatic beam of dxtbx says where its spectrum begins and ends; between them it is taken
/// to be level.
void takeRange(const std::array<double, 2> &range, const std::string &path, const CommandLine &line,
               LoadedInputs &loaded) {
  FlagsFirst flags(line, path, loaded);
  if (flags.anyOf({"--spectrum", "-sourcefile", "-dispersion", "--bandwidth-sigma"},
                  "the spectrum"))
    return;
  Options &o = loaded.options;
  const double width = range[1] - range[0], middle = (range[0] + range[1]) / 2;
  constexpr double fine = 1e-3, most = 1000; // of the wavelength; wavelengths
  o.dispersion = 100 * width / middle;
  if (!o.dispersionSteps)
    o.dispersionSteps =
        std::int64_t(std::clamp(std::round(width / (fine * middle)) + 1, 2.0, most));
  char text[256];
  std::snprintf(text, sizeof text,
                ": the beam is polychromatic; its spectrum is taken to be level from %g to %g A, "
                "with %lld wavelengths (-dispsteps); --spectrum=FILE gives a measured one",
                range[0], range[1], (long long)*o.dispersionSteps);
  loaded.remarks.push_back(path + text);
}

void takeBeam(const io::DialsBeam &beam, const std::string &path, const CommandLine &line,
              LoadedInputs &loaded) {
  Options &o = loaded.options;
  FlagsFirst flags(line, path, loaded);
  if (!flags.anyOf({"-lambda", "-energy"}, "the wavelength"))
    o.lambda = beam.wavelength;
  if (beam.probe != "x-ray")
    loaded.warnings.push_back(path + ": its beam is of " + beam.probe +
                              "s, and what scatters here is what scatters X-rays");
  if (beam.wavelengthRange)
    takeRange(*beam.wavelengthRange, path, line, loaded);
  const Vec3 direction = scaled(beam.direction, -1);
  if (!flags.anyOf({"-beam_vector"}, "the beam's direction"))
    o.beamVector = direction;
  if (!flags.anyOf({"-polar_vector"}, "the plane of polarization"))
    o.polarVector = cross(direction, beam.polarizationNormal);
  if (!flags.anyOf({"-polar", "-nopolar"}, "the polarization"))
    o.polarization = 2 * beam.polarizationFraction - 1;
}

/// What is averaged. The widths of a file are none of samples.
void takeAverages(const io::Averages &averages, const std::string &path, const CommandLine &line,
                  LoadedInputs &loaded) {
  Options &o = loaded.options;
  FlagsFirst flags(line, path, loaded);
  if (!isGiven(line, "--average"))
    o.averaging = averages.how;
  else if (o.averaging != averages.how)
    flags.anyOf({"--average"}, "how averages are taken");
  if (o.averaging == Averaging::Sampled)
    return;
  if (!flags.anyOf({"-mosaic", "-mosaic_abc"}, "the mosaic spread")) {
    o.mosaicSpread = averages.mosaicSpread;
    o.mosaicAbc = averages.mosaicAbc;
  }
  if (!flags.anyOf({"--bandwidth-sigma"}, "the bandwidth"))
    o.bandwidthSigma = averages.bandwidthSigma;
  if (averages.divergenceSigma && !flags.anyOf({"-divergence_sigma"}, "the divergence")) {
    o.hdivSigma = (*averages.divergenceSigma)[0];
    o.vdivSigma = (*averages.divergenceSigma)[1];
  }
}

void takeScan(const io::DialsExperiment &e, const std::string &path, const CommandLine &line,
              LoadedInputs &loaded) {
  Options &o = loaded.options;
  FlagsFirst flags(line, path, loaded);
  if (e.goniometer && !flags.anyOf({"-spindle_axis"}, "the spindle"))
    o.spindleAxis = applied(e.goniometer->setting, e.goniometer->axis);
  if (!e.scan)
    return;
  if (!flags.anyOf({"-phi"}, "where the rotation starts"))
    o.phi = e.scan->start;
  if (!flags.anyOf({"-osc", "--osc-per-frame"}, "the rotation of a frame")) {
    if (e.scan->width < 0)
      throw io::FileError(path, "turns backwards (a negative oscillation); turn the spindle's axis "
                                "around and change the sign");
    if (e.scan->width > 0)
      o.osc = e.scan->width;
  }
  if (e.scan->images() > 1 && !line.series.frames && !line.series.shots)
    loaded.remarks.push_back("the scan of " + path + " has " + std::to_string(e.scan->images()) +
                             " images; this is the first, --frames=scan makes them all");
}

} // namespace

double wavelengthOf(const Options &o, const Inputs &inputs) {
  if (o.lambda)
    return *o.lambda;
  if (o.energy)
    return units::wavelengthFromEnergy(*o.energy) * 1e10;
  for (const auto *header : {&inputs.imageHeader, &inputs.maskHeader})
    if (*header && (*header)->wavelength)
      return *(*header)->wavelength;
  return 1;
}

Mat3 matrixOf(const io::DialsExperiment &e, double wavelength, std::int64_t frame) {
  std::array<Vec3, 3> stars = io::reciprocalOf(e.crystal->real);
  const std::vector<Mat3> &points = e.crystal->atScanPoints;
  if (!points.empty()) {
    const std::size_t i =
        std::size_t(std::clamp<std::int64_t>(frame, 0, std::int64_t(points.size()) - 2));
    for (int column = 0; column < 3; ++column)
      for (int row = 0; row < 3; ++row)
        stars[column][row] = (points[i][3 * row + column] + points[i + 1][3 * row + column]) / 2;
  }
  Mat3 matrix;
  for (int column = 0; column < 3; ++column) {
    Vec3 v = stars[column];
    if (e.goniometer)
      v = applied(e.goniometer->setting, applied(e.goniometer->fixed, v));
    for (int row = 0; row < 3; ++row)
      matrix[3 * row + column] = v[row] * wavelength;
  }
  return matrix;
}

void placePanels(const std::string &path, const std::vector<io::DialsPanel> &panels,
                 const io::DialsBeam &beam, const std::string &maskFile, const CommandLine &line,
                 LoadedInputs &loaded) {
  Options &o = loaded.options;
  FlagsFirst flags(line, path, loaded);
  const io::DialsPanel &first = panels.front();
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (const double edge : panels[i].pixelSize)
      if (std::fabs(edge - first.pixelSize[0]) > 1e-9)
        throw io::FileError(path, "panel " + std::to_string(i) +
                                      " has pixels of other edges than the first panel's " +
                                      std::to_string(first.pixelSize[0]) +
                                      " mm; all pixels must be squares of one size here");
  const Vec3 direction = o.beamVector.value_or(scaled(beam.direction, -1));
  const io::DialsPanel &reference = panels[referencePanel(panels, direction)];
  o.convention = Convention::Custom;
  o.pivot = Pivot::Sample;
  Vec3 normal = unit(cross(reference.fast, reference.slow));
  if (dot(reference.origin, normal) < 0)
    normal = scaled(normal, -1);
  if (!(std::fabs(dot(reference.origin, normal)) > 1e-6))
    throw io::FileError(path, "has a detector whose plane goes through the sample");
  if (!flags.anyOf({"-fdet_vector", "-sdet_vector", "-odet_vector"}, "the detector's axes")) {
    o.fastAxis = reference.fast;
    o.slowAxis = reference.slow;
    o.normalAxis = normal;
  }
  if (!flags.anyOf({"-distance", "-close_distance"}, "the distance"))
    o.closeDistance = dot(reference.origin, normal);
  // Corner to nearest point; the axes of a file may be a little off a right angle.
  const double skew = dot(reference.fast, reference.slow), determinant = 1 - skew * skew;
  const double f = -dot(reference.origin, reference.fast),
               s = -dot(reference.origin, reference.slow);
  if (!flags.anyOf({"-Xbeam", "-Xclose", "-ORGX"}, "the beam centre along fast"))
    o.xBeam = (f - skew * s) / determinant;
  if (!flags.anyOf({"-Ybeam", "-Yclose", "-ORGY"}, "the beam centre along slow"))
    o.yBeam = (s - skew * f) / determinant;
  if (!flags.anyOf({"-pixel"}, "the pixels' size"))
    o.pixelSize = first.pixelSize[0];
  const bool sizes = flags.anyOf({"-detpixels", "-detpixels_x", "-detpixels_y", "-detsize",
                                  "-detpixels_f", "-detpixels_s", "-detsize_f", "-detsize_s"},
                                 "the number of pixels");
  if (panels.size() == 1) {
    if (!sizes) {
      o.fastPixels = first.pixels[0];
      o.slowPixels = first.pixels[1];
    }
  } else {
    for (const io::DialsPanel &p : panels) {
      PanelOptions panel;
      panel.file = path;
      panel.offset = difference(p.origin, reference.origin);
      panel.fastAxis = p.fast;
      panel.slowAxis = p.slow;
      panel.normal = cross(p.fast, p.slow);
      if (dot(p.origin, *panel.normal) < 0)
        panel.normal = scaled(*panel.normal, -1);
      panel.fastPixels = p.pixels[0];
      panel.slowPixels = p.pixels[1];
      o.panels.push_back(panel);
    }
  }
  if (!flags.anyOf({"-mask"}, "which pixels are masked"))
    takeMask(panels, maskFile, loaded);
  if (!flags.anyOf({"-gain", "-gain_map"}, "the gain"))
    takeGain(panels, loaded);
  takeSensor(path, panels, line, loaded);
}

void loadExpt(const CommandLine &line, LoadedInputs &loaded) {
  const ExptName name = exptNameOf(*line.files.expt);
  const std::string &path = name.path;
  const std::vector<io::DialsExperiment> all = io::readExpt(path, name.index);
  refuseConventions(line, path);
  io::DialsExperiment chosen = all.front();
  if (!chosen.mask.empty())
    chosen.mask = maskFileOf(chosen, path);
  // Without a number, those of the same images are lattices on them.
  loaded.dials.push_back(chosen);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].crystal && chosen.imageSet >= 0 && all[i].imageSet == chosen.imageSet)
      loaded.dials.push_back(all[i]);
  takeBeam(chosen.beam, path, line, loaded);
  placePanels(path, chosen.panels, chosen.beam, chosen.mask, line, loaded);
  takeScan(chosen, path, line, loaded);
  if (chosen.averages)
    takeAverages(*chosen.averages, path, line, loaded);
  FlagsFirst flags(line, path, loaded);
  if (chosen.crystal && !flags.anyOf({"-mat"}, "the orientation"))
    loaded.inputs.matrix = matrixOf(chosen, wavelengthOf(loaded.options, loaded.inputs), 0);
  if (loaded.dials.size() > 1)
    loaded.remarks.push_back(path + ": " + std::to_string(loaded.dials.size()) +
                             " experiments share these images; each is a lattice on them");
}

void loadCrystfelGeometry(const CommandLine &line, LoadedInputs &loaded) {
  const std::string &path = *line.files.geometry;
  refuseConventions(line, path);
  Options &o = loaded.options;
  FlagsFirst flags(line, path, loaded);
  const io::CrystfelGeometry geometry = io::readCrystfelGeometry(path, o.distance);
  if (geometry.wavelength && !flags.anyOf({"-lambda", "-energy"}, "the wavelength"))
    o.lambda = geometry.wavelength;
  io::DialsBeam beam; // in CrystFEL's frame: along z, the field along x
  beam.direction = {0, 0, -1};
  if (!isGiven(line, "-beam_vector"))
    o.beamVector = Vec3{0, 0, 1};
  if (!isGiven(line, "-polar_vector"))
    o.polarVector = Vec3{1, 0, 0};
  if (!isGiven(line, "-spindle_axis"))
    o.spindleAxis = Vec3{1, 0, 0};
  placePanels(path, geometry.panels, beam, "", line, loaded);
  loaded.warnings.insert(loaded.warnings.end(), geometry.warnings.begin(), geometry.warnings.end());
}

} // namespace nanobragg
