#include "lib/Experiment/DefaultsChooser.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace nanobragg {

void DefaultsChooser::choosePixels() {
  Detector &d = experiment.detector;
  d.pixelSize = given.pixelSize.value_or(1e-4);
  if (options.pixelSize)
    d.pixelSize = units::fromMillimetres(*options.pixelSize);
  requirePositive(d.pixelSize, "-pixel", "mm");

  // Panels that all say their size decide, unless a flag does.
  auto largestPanel = [&](std::optional<std::int64_t> PanelOptions::*own, std::int64_t otherwise) {
    std::int64_t largest = 0;
    for (const PanelOptions &panel : options.panels) {
      if (!(panel.*own))
        return otherwise;
      largest = std::max(largest, *(panel.*own));
    }
    return largest > 0 ? largest : otherwise;
  };
  auto count = [&](const std::optional<std::int64_t> &flag, std::int64_t header,
                   const std::optional<double> &size, double &detSize, const char *pixelsFlag,
                   const char *sizeFlag) -> std::int64_t {
    std::int64_t pixels = flag.value_or(header);
    if (pixels < 0)
      throw std::invalid_argument(std::string(pixelsFlag) + ": must not be negative, not " +
                                  std::to_string(pixels));
    if (size)
      requirePositive(*size, sizeFlag, "mm");
    if (flag == 0)
      warn(std::string(pixelsFlag) + " 0 counts as not given: " + sizeFlag +
           " and -pixel decide the number of pixels");
    detSize = pixels > 0 ? d.pixelSize * double(pixels)
                         : (size ? units::fromMillimetres(*size) : 102.4e-3);
    double n = wholeNumber(detSize / d.pixelSize - 0.5);
    if (!(n >= 1))
      throw std::invalid_argument(std::string(sizeFlag) +
                                  ": the detector is smaller than a pixel; reduce -pixel");
    if (!(n < 1e6))
      throw std::invalid_argument(std::string(pixelsFlag) + ": " + text(n) +
                                  " pixels along one axis are too many; enlarge -pixel");
    return std::int64_t(n);
  };
  d.fastPixels =
      count(options.fastPixels, largestPanel(&PanelOptions::fastPixels, given.fastPixels),
            options.detSizeFast, report.detector.detSizeFast, "-detpixels_f", "-detsize_f");
  d.slowPixels =
      count(options.slowPixels, largestPanel(&PanelOptions::slowPixels, given.slowPixels),
            options.detSizeSlow, report.detector.detSizeSlow, "-detpixels_s", "-detsize_s");
  if (d.fastPixels * d.slowPixels > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("-detpixels: an image of " + std::to_string(d.fastPixels) + " x " +
                                std::to_string(d.slowPixels) +
                                " pixels is too large; reduce the detector or enlarge -pixel");
}

void DefaultsChooser::chooseBeamCenter() {
  Detector &d = experiment.detector;
  DetectorReport &r = report.detector;
  const double pixel = d.pixelSize;
  auto millimetres = [](const std::optional<double> &flag, const std::optional<double> &header,
                        const char *name) {
    if (flag)
      requireFinite(*flag, name);
    return flag ? std::optional(units::fromMillimetres(*flag)) : header;
  };
  const auto xBeam = millimetres(options.xBeam, given.xBeam, "-Xbeam");
  const auto yBeam = millimetres(options.yBeam, given.yBeam, "-Ybeam");
  const auto orgX = options.orgX ? options.orgX : given.orgX;
  const auto orgY = options.orgY ? options.orgY : given.orgY;
  if (orgX)
    requireFinite(*orgX, "-ORGX");
  if (orgY)
    requireFinite(*orgY, "-ORGY");

  double fClose = orgX ? (*orgX - 0.5) * pixel : r.detSizeFast / 2.0;
  double sClose = orgY ? (*orgY - 0.5) * pixel : r.detSizeSlow / 2.0;
  r.xClose = millimetres(options.xClose, {}, "-Xclose").value_or(fClose);
  r.yClose = millimetres(options.yClose, {}, "-Yclose").value_or(sClose);

  double fBeam = 0, sBeam = 0;
  switch (options.convention) {
  case Convention::Adxv:
    r.xBeam = xBeam.value_or((r.detSizeFast + pixel) / 2.0);
    r.yBeam = yBeam.value_or((r.detSizeSlow - pixel) / 2.0);
    fBeam = r.xBeam;
    sBeam = r.detSizeSlow - r.yBeam;
    break;
  case Convention::Mosflm:
  case Convention::Denzo: {
    // X runs along slow and Y along fast; MOSFLM counts from the middle of the first pixel.
    const double half = options.convention == Convention::Mosflm ? 0.5 * pixel : 0;
    r.xBeam = xBeam.value_or((r.detSizeSlow + pixel) / 2.0);
    r.yBeam = yBeam.value_or((r.detSizeFast + pixel) / 2.0);
    fBeam = r.yBeam + half;
    sBeam = r.xBeam + half;
    break;
  }
  case Convention::Xds:
  case Convention::Dials:
  case Convention::Custom:
    r.xBeam = xBeam.value_or(r.xClose);
    r.yBeam = yBeam.value_or(r.yClose);
    fBeam = r.xBeam;
    sBeam = r.yBeam;
    if (options.convention == Convention::Custom) {
      fClose = r.xBeam;
      sClose = r.yBeam;
    }
    break;
  }
  const bool sample = report.pivot == Pivot::Sample;
  d.beamCenterFast = sample ? fClose : fBeam;
  d.beamCenterSlow = sample ? sClose : sBeam;
}

void DefaultsChooser::chooseDistance() {
  Detector &d = experiment.detector;
  d.distance = given.distance.value_or(0.1);
  if (options.distance)
    d.distance = units::fromMillimetres(*options.distance);
  requirePositive(d.distance, "-distance", "mm");
  auto closeDistance = given.closeDistance;
  if (options.closeDistance)
    closeDistance = units::fromMillimetres(*options.closeDistance);

  ProgramVariant &variant = experiment.variant;
  const Vec3 &beam = experiment.beam.direction;
  const double before = beamNormalCosine(d, beam, Rule::C);
  const double after = beamNormalCosine(d, beam, Rule::Right);
  const bool swung = std::fabs(after - before) > 1e-12;
  if (swung)
    note(&Semantics::twothetaRatio);
  if (closeDistance) {
    requirePositive(*closeDistance, "-close_distance", "mm");
    d.closeDistance = *closeDistance;
    d.distance = d.closeDistance / before;
    variant.distance = DistanceInput::CloseDistance;
    // The kernel knows the cosine before the swing only; the distance says the same.
    if (semantics.twothetaRatio == Rule::Right && swung && report.pivot == Pivot::Beam &&
        after * before > 0) {
      d.distance = d.closeDistance / std::fabs(after);
      variant.distance = DistanceInput::Distance;
    }
  } else {
    d.closeDistance = std::fabs(before * d.distance);
  }

  Rule rule = semantics.twothetaRatio;
  if (rule == Rule::Right && std::fabs(after) < 1e-9) {
    warn("the direct beam does not meet the detector plane: the distance and beam centre that are "
         "printed are those before the two-theta swing");
    rule = Rule::C;
  }
  DetectorReport placed = placeDetector(d, beam, report.pivot, variant.distance, rule);
  DetectorReport &r = report.detector;
  placed.xBeam = r.xBeam;
  placed.yBeam = r.yBeam;
  placed.xClose = r.xClose;
  placed.yClose = r.yClose;
  placed.detSizeFast = r.detSizeFast;
  placed.detSizeSlow = r.detSizeSlow;
  r = placed;
}

void DefaultsChooser::choosePanels() {
  if (options.panels.empty())
    return;
  experiment.variant.panels = true;
  const Detector &d = experiment.detector;
  for (const PanelOptions &panel : options.panels) {
    const std::string name = "panel " + std::to_string(d.panels.size());
    Panel p;
    for (int i = 0; i < 3; ++i)
      p.offset[i] = units::fromMillimetres(panel.offset[i]);
    p.fastAxis = unit(panel.fastAxis);
    p.slowAxis = unit(panel.slowAxis);
    p.normal = unit(panel.normal.value_or(cross(p.fastAxis, p.slowAxis)));
    p.fastPixels = panel.fastPixels.value_or(d.fastPixels);
    p.slowPixels = panel.slowPixels.value_or(d.slowPixels);
    if (length(cross(p.fastAxis, p.slowAxis)) < 1e-6 || length(p.normal) == 0)
      throw std::invalid_argument(name + ": its axes must be neither zero nor parallel");
    if (p.fastPixels < 1 || p.slowPixels < 1 || p.fastPixels > d.fastPixels ||
        p.slowPixels > d.slowPixels)
      throw std::invalid_argument(
          name + " has " + std::to_string(p.fastPixels) + " x " + std::to_string(p.slowPixels) +
          " pixels, which must be at least 1 and at most the detector's " +
          std::to_string(d.fastPixels) + " x " + std::to_string(d.slowPixels) +
          "; leave -detpixels out, or give the largest there");
    experiment.detector.panels.push_back(p);
  }
}

void DefaultsChooser::chooseFaces() {
  const Detector &d = experiment.detector;
  experiment.variant.faces = semantics.detectorFaces;
  const bool back =
      d.panels.empty()
          ? report.detector.closeDistance < 0
          : std::any_of(d.panels.begin(), d.panels.end(), [&](const Panel &panel) {
              return placePanel(d, experiment.beam.direction, report.detector, panel)
                         .closeDistance < 0;
            });
  if (back)
    note(&Semantics::detectorFaces);
}

void DefaultsChooser::chooseDetector() {
  Detector &d = experiment.detector;
  ProgramVariant &variant = experiment.variant;
  choosePixels();
  requireFinite({options.rotX, options.rotY, options.rotZ},
                "-detector_rotx, -detector_roty or -detector_rotz");
  d.rotation = {units::radians(options.rotX), units::radians(options.rotY),
                units::radians(options.rotZ)};
  requireFinite(options.twotheta.value_or(0), "-twotheta");
  d.twotheta = units::radians(options.twotheta.value_or(0));
  report.twotheta = d.twotheta;
  chooseBeamCenter();
  chooseDistance();
  choosePanels();
  chooseFaces();
  chooseSensor();
  if (options.curved) {
    variant.curvature = semantics.curvedDetector == Rule::C ? Curvature::C : Curvature::Right;
    note(&Semantics::curvedDetector);
  }
  variant.solidAngle = options.pointPixel ? SolidAngle::Point : SolidAngle::Pixel;
  variant.omega = options.oversampleOmega ? Evaluation::Each : Evaluation::Once;
}

} // namespace nanobragg
