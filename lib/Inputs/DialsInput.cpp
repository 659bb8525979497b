#include "lib/Inputs/DialsInput.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Experiment/LabPanels.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/CrystfelGeometry.h"
#include "lib/Formats/ExptFile.h"
#include "lib/Inputs/DialsPixels.h"
#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/QuantityRows.h"
#include "lib/Quantities/UsageError.h"

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

void refuseConventions(const ExperimentRequest &request, const std::string &path) {
  const auto &convention = request.options.convention;
  if (convention && *convention != Convention::Custom) {
    const std::string name =
        inWordsOf(request.caller, std::string("-") + wordsOf<Convention>[std::size_t(*convention)]);
    throw UsageError(name + " chooses a frame, and " + path + " has its own; leave " + name +
                     " out");
  }
  for (const auto &[name, given] :
       {std::pair("--panels", request.files.panels || !request.options.panels.empty()),
        std::pair("-img", request.files.image.has_value())})
    if (given)
      throw UsageError(inWordsOf(request.caller, name) + " and " + path +
                       " both place the detector; leave one of them out");
}

Vec3 inMetres(const Vec3 &mm) { return flagUnit::inSI(flagUnit::millimetres, mm); }

/// The mask file of an experiment: as it is named, or beside the list.
std::string maskFileOf(const io::DialsExperiment &e, const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path beside = fs::path(path).parent_path() / e.mask;
  return !fs::exists(e.mask, ignored) && fs::exists(beside, ignored) ? beside.string() : e.mask;
}

void takeSensor(const std::string &path, const std::vector<io::DialsPanel> &panels,
                const ExperimentRequest &request, LoadedInputs &loaded) {
  // In mm; dxtbx writes it where the image file says nothing of the sensor.
  constexpr double unknownThickness = 1e-6;
  const io::DialsPanel &first = panels.front();
  if (!first.parallax || !(first.thickness > unknownThickness) || !(first.mu > 0))
    return;
  CallerFirst caller(request, path, loaded);
  if (caller.anyOf("the sensor", &Options::thickness, &Options::attenuationDepth))
    return;
  loaded.options.thickness = flagUnit::micrometres.inSI(first.thickness * 1000);
  loaded.options.attenuationDepth = flagUnit::micrometres.inSI(1000 / first.mu);
  if (std::ranges::any_of(panels, [&](const io::DialsPanel &p) {
        return p.thickness != first.thickness || p.mu != first.mu;
      }))
    loaded.warnings.push_back(path +
                              ": its panels have different sensors; all get that of the first");
}

/// A polychromatic beam of dxtbx says where its spectrum begins and ends; between them it is taken
/// to be level.
void takeRange(const std::array<double, 2> &range, const std::string &path,
               const ExperimentRequest &request, LoadedInputs &loaded) {
  CallerFirst caller(request, path, loaded);
  if (caller.isNamed(request.files.spectrum.has_value(), "--spectrum", "the spectrum") ||
      caller.isNamed(request.files.sources || !request.inputs.sources.empty(), "-sourcefile",
                     "the spectrum") ||
      caller.anyOf("the spectrum", &Options::dispersion, &Options::bandwidthSigma))
    return;
  Options &o = loaded.options;
  if (o.spectrumBetween == SpectrumBetween::Linear) {
    for (const double wavelength : range)
      loaded.inputs.spectrum.push_back({units::wavelengthFromAngstrom(wavelength), 1});
    return;
  }
  const double width = range[1] - range[0], middle = (range[0] + range[1]) / 2;
  constexpr double fine = 1e-3, most = 1000; // part of the wavelength; wavelengths
  o.dispersion = width / middle;
  if (!o.dispersionSteps)
    o.dispersionSteps =
        std::int64_t(std::clamp(std::round(width / (fine * middle)) + 1, 2.0, most));
  loaded.remarks.push_back(
      path +
      formatted(": the beam is polychromatic; its spectrum is taken to be level from %g to %g A, "
                "with %lld wavelengths (-dispsteps); --spectrum=FILE gives a measured one",
                range[0], range[1], (long long)*o.dispersionSteps));
}

void takeBeam(const io::DialsBeam &beam, const std::string &path, const ExperimentRequest &request,
              LoadedInputs &loaded) {
  Options &o = loaded.options;
  CallerFirst caller(request, path, loaded);
  if (!caller.anyOf("the wavelength", &Options::lambda, &Options::energy))
    o.lambda = units::wavelengthFromAngstrom(beam.wavelength);
  if (beam.probe != "x-ray")
    loaded.warnings.push_back(path + ": its beam is of " + beam.probe +
                              "s; only the scattering of X-rays is simulated");
  if (beam.wavelengthRange)
    takeRange(*beam.wavelengthRange, path, request, loaded);
  const Vec3 direction = scaled(beam.direction, -1);
  if (!caller.anyOf("the beam's direction", &Options::beamVector))
    o.beamVector = direction;
  if (!caller.anyOf("the plane of polarization", &Options::polarVector))
    o.polarVector = cross(direction, beam.polarizationNormal);
  if (!caller.anyOf("the polarization", &Options::polarization, &Options::noPolarization))
    o.polarization = 2 * beam.polarizationFraction - 1;
}

/// Takes the averages of a file. Its widths are none of samples.
void takeAverages(const io::Averages &averages, const std::string &path,
                  const ExperimentRequest &request, LoadedInputs &loaded) {
  Options &o = loaded.options;
  CallerFirst caller(request, path, loaded);
  if (!request.options.averaging)
    o.averaging = averages.how;
  else if (o.averaging != averages.how)
    caller.anyOf("how averages are taken", &Options::averaging);
  if (o.averaging == Averaging::Sampled)
    return;
  if (!caller.anyOf("the mosaic spread", &Options::mosaicSpread, &Options::mosaicAbc)) {
    o.mosaicSpread = units::converted(averages.mosaicSpread, units::radians);
    o.mosaicAbc = units::converted(
        averages.mosaicAbc, [](const Vec3 &abc) { return flagUnit::inSI(flagUnit::degrees, abc); });
  }
  if (!caller.anyOf("the bandwidth", &Options::bandwidthSigma))
    o.bandwidthSigma = units::converted(averages.bandwidthSigma, units::fromPercent);
  if (averages.divergenceSigma && !caller.anyOf("the divergence", &Options::hdivSigma)) {
    o.hdivSigma = units::fromMilliradians((*averages.divergenceSigma)[0]);
    o.vdivSigma = units::fromMilliradians((*averages.divergenceSigma)[1]);
  }
}

void takeScan(const io::DialsExperiment &e, const std::string &path,
              const ExperimentRequest &request, LoadedInputs &loaded) {
  Options &o = loaded.options;
  CallerFirst caller(request, path, loaded);
  if (e.goniometer && !caller.anyOf("the spindle", &Options::spindleAxis))
    o.spindleAxis = applied(e.goniometer->setting, e.goniometer->axis);
  if (!e.scan)
    return;
  if (!caller.anyOf("where the rotation starts", &Options::phi))
    o.phi = units::radians(e.scan->start);
  if (!caller.anyOf("the rotation of a frame", &Options::osc) &&
      !caller.isNamed(request.rotationOfFrames, "--osc-per-frame", "the rotation of a frame")) {
    if (e.scan->width < 0)
      throw io::FileError(path, "turns backwards (a negative oscillation); turn the spindle's axis "
                                "around and change the sign");
    if (e.scan->width > 0)
      o.osc = units::radians(e.scan->width);
  }
  if (e.scan->images() > 1 && !request.manyImages)
    loaded.remarks.push_back("the scan of " + path + " has " + std::to_string(e.scan->images()) +
                             " images; this is the first, --frames=scan makes them all");
}

/// The bandwidth of a geometry, which samples do not have.
void takeBandwidth(const io::CrystfelGeometry &geometry, const std::string &path,
                   const ExperimentRequest &request, LoadedInputs &loaded) {
  CallerFirst caller(request, path, loaded);
  if (!geometry.bandwidth || *geometry.bandwidth == 0 ||
      caller.isNamed(request.files.spectrum.has_value(), "--spectrum", "the spectrum") ||
      caller.isNamed(request.files.sources || !request.inputs.sources.empty(), "-sourcefile",
                     "the spectrum") ||
      caller.anyOf("the bandwidth", &Options::bandwidthSigma, &Options::dispersion))
    return;
  Options &o = loaded.options;
  if (o.averaging.value_or(Averaging::Sampled) != Averaging::Sampled) {
    o.bandwidthSigma = geometry.bandwidth;
    return;
  }
  loaded.warnings.push_back(
      path +
      formatted(": its bandwidth of %g %% is not used, since samples have one wavelength each; "
                "--average=closed, draws and quadrature take it",
                100 * *geometry.bandwidth));
}

/// Where nothing says otherwise, the beam goes along z, its field and the spindle along x.
void completeFrame(Options &options) {
  if (!options.beamVector)
    options.beamVector = Vec3{0, 0, 1};
  if (!options.polarVector)
    options.polarVector = Vec3{1, 0, 0};
  if (!options.spindleAxis)
    options.spindleAxis = Vec3{1, 0, 0};
}

} // namespace

double wavelengthOf(const Options &o, const Inputs &inputs) {
  if (o.lambda)
    return *o.lambda;
  if (o.energy)
    return units::wavelengthFromEnergy(flagUnit::electronvolts.fromSI(*o.energy));
  for (const auto *header : {&inputs.imageHeader, &inputs.maskHeader})
    if (*header && (*header)->wavelength)
      return units::wavelengthFromAngstrom(*(*header)->wavelength);
  return units::angstrom;
}

Mat3 matrixOf(const io::DialsExperiment &e, std::int64_t frame) {
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
      matrix[3 * row + column] = v[row] / units::angstrom;
  }
  return matrix;
}

void placeOwnPanels(const ExperimentRequest &request, LoadedInputs &loaded) {
  Options &o = loaded.options;
  if (!o.pixelSize)
    throw UsageError(
        "Detector.panels need the size of a pixel; give Detector.pixel_size with them");
  completeFrame(o);
  LabDetector placed;
  try {
    placed = placeInLab(request.panels, unit(*o.beamVector), *o.pixelSize);
  } catch (const std::invalid_argument &error) {
    throw UsageError(std::string("Detector.panels: ") + error.what());
  }
  o.convention = Convention::Custom;
  o.pivot = Pivot::Sample;
  o.fastAxis = placed.fastAxis;
  o.slowAxis = placed.slowAxis;
  o.normalAxis = placed.normal;
  o.closeDistance = placed.closeDistance;
  o.xBeam = placed.beamCenterFast;
  o.yBeam = placed.beamCenterSlow;
  o.panels = placed.panels;
}

void placePanels(const std::string &path, const std::vector<io::DialsPanel> &panels,
                 const io::DialsBeam &beam, const std::string &maskFile,
                 const ExperimentRequest &request, LoadedInputs &loaded, bool distanceIsIn) {
  Options &o = loaded.options;
  CallerFirst caller(request, path, loaded);
  const io::DialsPanel &first = panels.front();
  const Options &said = request.options;
  const bool planeOfPython = request.caller == Caller::Python && said.fastAxis && said.slowAxis &&
                             said.closeDistance && said.fastPixels;
  if (planeOfPython || !request.panels.empty()) { // in place of the file's
    if (!o.pixelSize)
      o.pixelSize = units::fromMillimetres(first.pixelSize[0]);
    if (!planeOfPython)
      placeOwnPanels(request, loaded);
    takeSensor(path, panels, request, loaded);
    return;
  }
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (const double edge : panels[i].pixelSize)
      if (std::fabs(edge - first.pixelSize[0]) > 1e-9)
        throw io::FileError(path, "panel " + std::to_string(i) +
                                      " has pixels of other edges than the first panel's " +
                                      std::to_string(first.pixelSize[0]) +
                                      " mm; all pixels must be squares of one size here");
  std::vector<LabPanel> stand;
  stand.reserve(panels.size());
  for (const io::DialsPanel &p : panels)
    stand.push_back({inMetres(p.origin), p.fast, p.slow, p.pixels[0], p.pixels[1], path});
  const LabDetector placed = [&] {
    try {
      return placeInLab(stand, o.beamVector.value_or(scaled(beam.direction, -1)),
                        units::fromMillimetres(first.pixelSize[0]));
    } catch (const std::invalid_argument &error) {
      throw io::FileError(path, error.what());
    }
  }();
  o.convention = Convention::Custom;
  o.pivot = Pivot::Sample;
  if (!caller.anyOf("the detector's axes", &Options::fastAxis, &Options::slowAxis,
                    &Options::normalAxis)) {
    o.fastAxis = placed.fastAxis;
    o.slowAxis = placed.slowAxis;
    o.normalAxis = placed.normal;
  }
  if (distanceIsIn && said.distance && !said.closeDistance) {
    const Vec3 along = unit(o.beamVector.value_or(scaled(beam.direction, -1)));
    o.distance = placed.closeDistance / std::fabs(dot(along, placed.normal));
  } else if (!caller.anyOf("the distance", &Options::distance, &Options::closeDistance)) {
    o.closeDistance = placed.closeDistance;
  }
  if (!caller.anyOf("the beam centre along fast", &Options::beamCenter, &Options::xBeam,
                    &Options::xClose, &Options::orgX))
    o.xBeam = placed.beamCenterFast;
  if (!caller.anyOf("the beam centre along slow", &Options::beamCenter, &Options::yBeam,
                    &Options::yClose, &Options::orgY))
    o.yBeam = placed.beamCenterSlow;
  if (!caller.anyOf("the pixels' size", &Options::pixelSize))
    o.pixelSize = units::fromMillimetres(first.pixelSize[0]);
  const bool sizes =
      caller.anyOf("the number of pixels", &Options::fastPixels, &Options::slowPixels,
                   &Options::detSizeFast, &Options::detSizeSlow);
  if (panels.size() == 1 && !sizes) {
    o.fastPixels = first.pixels[0];
    o.slowPixels = first.pixels[1];
  }
  if (panels.size() > 1)
    o.panels = placed.panels;
  if (!caller.isNamed(request.files.mask || request.inputs.mask, "-mask",
                      "which pixels are masked"))
    takeMask(panels, maskFile, loaded);
  if (!caller.anyOf("the gain", &Options::gain) &&
      !caller.isNamed(request.files.gainMap || request.inputs.gainMap, "-gain_map", "the gain"))
    takeGain(panels, loaded);
  takeSensor(path, panels, request, loaded);
}

void loadExpt(const ExperimentRequest &request, LoadedInputs &loaded) {
  const ExptName name = exptNameOf(*request.files.expt);
  const std::string &path = name.path;
  const std::vector<io::DialsExperiment> all = io::readExpt(path, name.index);
  refuseConventions(request, path);
  io::DialsExperiment chosen = all.front();
  loaded.warnings.insert(loaded.warnings.end(), chosen.warnings.begin(), chosen.warnings.end());
  if (!chosen.mask.empty())
    chosen.mask = maskFileOf(chosen, path);
  if (std::error_code ignored;
      !chosen.mask.empty() && !std::filesystem::exists(chosen.mask, ignored)) {
    if (!request.files.mask && !request.inputs.mask)
      loaded.warnings.push_back(path + ": its mask " + chosen.mask +
                                " is not there, so that no pixel is masked by it; put it beside "
                                "the list, or give -mask");
    chosen.mask.clear();
  }
  // Without a number, those of the same images are lattices on them.
  loaded.dials.push_back(chosen);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].crystal && chosen.imageSet >= 0 && all[i].imageSet == chosen.imageSet)
      loaded.dials.push_back(all[i]);
  takeBeam(chosen.beam, path, request, loaded);
  placePanels(path, chosen.panels, chosen.beam, chosen.mask, request, loaded);
  takeScan(chosen, path, request, loaded);
  if (chosen.averages)
    takeAverages(*chosen.averages, path, request, loaded);
  CallerFirst caller(request, path, loaded);
  if (chosen.crystal && !caller.isNamed(request.files.matrix || request.inputs.hasMatrix(), "-mat",
                                        "the orientation"))
    loaded.inputs.matrix = matrixOf(chosen, 0);
  if (loaded.dials.size() > 1)
    loaded.remarks.push_back(path + ": " + std::to_string(loaded.dials.size()) +
                             " experiments share these images; each is a lattice on them");
}

void loadCrystfelGeometry(const ExperimentRequest &request, LoadedInputs &loaded) {
  const std::string &path = *request.files.geometry;
  refuseConventions(request, path);
  Options &o = loaded.options;
  CallerFirst caller(request, path, loaded);
  const io::CrystfelGeometry geometry = io::readCrystfelGeometry(
      path, units::converted(o.distance, [](double m) { return flagUnit::millimetres.fromSI(m); }));
  const bool lambda = caller.anyOf("the wavelength", &Options::lambda, &Options::energy);
  if (geometry.wavelength && !lambda)
    o.lambda = units::converted(geometry.wavelength, units::wavelengthFromAngstrom);
  else if (!lambda && !geometry.wavelengthInImage.empty() && !request.files.spectrum &&
           !request.files.sources && request.inputs.sources.empty())
    throw io::FileError(path, "does not say the wavelength, but where in an image it is (" +
                                  geometry.wavelengthInImage + "); give -lambda or -energy");
  takeBandwidth(geometry, path, request, loaded);
  io::DialsBeam beam; // in CrystFEL's frame: along z, the field along x
  beam.direction = {0, 0, -1};
  completeFrame(o);
  if (geometry.saysDistance)
    caller.anyOf("the camera length", &Options::distance);
  placePanels(path, geometry.panels, beam, "", request, loaded, /*distanceIsIn=*/true);
  loaded.warnings.insert(loaded.warnings.end(), geometry.warnings.begin(), geometry.warnings.end());
}

} // namespace nanobragg
