#include "lib/Choose/DefaultsChooser.h"

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
  d.pixelSize = said(&O::pixelSize).value_or(given.pixelSize.value_or(1e-4));

  // Panels that all say their size decide, unless a flag does.
  auto largestPanel = [&](std::optional<std::int64_t> PanelOptions::*own, std::int64_t otherwise) {
    std::int64_t largest = 0;
    for (const PanelOptions &panel : said(&O::panels)) {
      if (!(panel.*own))
        return otherwise;
      largest = std::max(largest, *(panel.*own));
    }
    return largest > 0 ? largest : otherwise;
  };
  auto count = [&](std::optional<std::int64_t> Options::*flag, std::int64_t header,
                   std::optional<double> Options::*size, double &detSize, const char *pixelsFlag,
                   const char *sizeFlag) -> std::int64_t {
    const std::int64_t pixels = said(flag).value_or(header);
    if (said(flag) == 0 && !semantics.isC())
      throw std::invalid_argument(std::string(pixelsFlag) +
                                  ": an image has at least 1 pixel; leave the flag out where " +
                                  sizeFlag + " and -pixel decide");
    detSize = pixels > 0 ? d.pixelSize * double(pixels) : said(size).value_or(102.4e-3);
    double n = wholeNumber(detSize / d.pixelSize - 0.5);
    if (!(n >= 1))
      throw std::invalid_argument(std::string(sizeFlag) +
                                  ": the detector is smaller than a pixel; reduce -pixel");
    if (!(n < 1e6))
      throw std::invalid_argument(std::string(pixelsFlag) + ": " + text(n) +
                                  " pixels along one axis are too many; enlarge -pixel");
    return std::int64_t(n);
  };
  d.fastPixels = count(&O::fastPixels, largestPanel(&PanelOptions::fastPixels, given.fastPixels),
                       &O::detSizeFast, report.detector.detSizeFast, "-detpixels_f", "-detsize_f");
  d.slowPixels = count(&O::slowPixels, largestPanel(&PanelOptions::slowPixels, given.slowPixels),
                       &O::detSizeSlow, report.detector.detSizeSlow, "-detpixels_s", "-detsize_s");
  if (d.fastPixels * d.slowPixels > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("-detpixels: an image of " + std::to_string(d.fastPixels) + " x " +
                                std::to_string(d.slowPixels) +
                                " pixels is too large; reduce the detector or enlarge -pixel");
}

void DefaultsChooser::chooseBeamCenter() {
  Detector &d = experiment.detector;
  DetectorReport &r = report.detector;
  const double pixel = d.pixelSize;
  const Convention convention = report.convention;
  const bool custom = convention == Convention::Custom;
  const bool aboutSample = convention == Convention::Xds || convention == Convention::Dials;
  // Values that the convention does not use are printed only.
  auto get = [&](auto field, bool used) { return used ? said(field) : said.unread().*field; };
  auto metres = [&](auto field, const std::optional<double> &header, bool used) {
    const auto value = get(field, used);
    return value ? value : header;
  };
  auto xBeam = metres(&O::xBeam, given.xBeam, !aboutSample);
  auto yBeam = metres(&O::yBeam, given.yBeam, !aboutSample);
  auto xClose = metres(&O::xClose, {}, custom && !xBeam);
  auto yClose = metres(&O::yClose, {}, custom && !yBeam);
  const auto ofFlagX = get(&O::orgX, aboutSample || (custom && !xBeam && !xClose));
  const auto ofFlagY = get(&O::orgY, aboutSample || (custom && !yBeam && !yClose));
  const auto orgX = ofFlagX ? ofFlagX : given.orgX, orgY = ofFlagY ? ofFlagY : given.orgY;

  // X runs along slow and Y along fast; MOSFLM counts from the middle of the first pixel.
  const bool mosflm = convention == Convention::Mosflm;
  const bool slowFirst = mosflm || convention == Convention::Denzo;
  const double half = mosflm ? 0.5 * pixel : 0;
  const auto center = said(&O::beamCenter);
  if (center) {
    const auto [fast, slow] = *center;
    xBeam = slowFirst ? slow - half : fast;
    yBeam = slowFirst ? fast - half : convention == Convention::Adxv ? r.detSizeSlow - slow : slow;
    xClose = fast;
    yClose = slow;
  }
  double fClose = orgX ? (*orgX - 0.5) * pixel : r.detSizeFast / 2.0;
  double sClose = orgY ? (*orgY - 0.5) * pixel : r.detSizeSlow / 2.0;
  r.xClose = xClose.value_or(fClose);
  r.yClose = yClose.value_or(sClose);

  double fBeam = 0, sBeam = 0;
  switch (convention) {
  case Convention::Adxv:
    r.xBeam = xBeam.value_or((r.detSizeFast + pixel) / 2.0);
    r.yBeam = yBeam.value_or((r.detSizeSlow - pixel) / 2.0);
    fBeam = r.xBeam;
    sBeam = r.detSizeSlow - r.yBeam;
    break;
  case Convention::Mosflm:
  case Convention::Denzo:
    r.xBeam = xBeam.value_or((r.detSizeSlow + pixel) / 2.0);
    r.yBeam = yBeam.value_or((r.detSizeFast + pixel) / 2.0);
    fBeam = r.yBeam + half;
    sBeam = r.xBeam + half;
    break;
  case Convention::Xds:
  case Convention::Dials:
  case Convention::Custom:
    r.xBeam = xBeam.value_or(r.xClose);
    r.yBeam = yBeam.value_or(r.yClose);
    fBeam = r.xBeam;
    sBeam = r.yBeam;
    if (custom) {
      fClose = r.xBeam;
      sClose = r.yBeam;
    }
    break;
  }
  const bool sample = report.pivot == Pivot::Sample;
  d.beamCenterFast = center ? (*center)[0] : sample ? fClose : fBeam;
  d.beamCenterSlow = center ? (*center)[1] : sample ? sClose : sBeam;
  if (said.unread().panels.empty()) {
    warnOfCenter("-Xbeam", said.unread().xBeam);
    warnOfCenter("-Ybeam", said.unread().yBeam);
    warnOfCenter("--beam-center", center ? std::optional((*center)[0]) : std::nullopt);
  }
}

void DefaultsChooser::warnOfCenter(const std::string &flag, std::optional<double> metres) {
  const DetectorReport &r = report.detector;
  const double side = std::max(r.detSizeFast, r.detSizeSlow), pixel = experiment.detector.pixelSize;
  const auto inMillimeters = [](double length) { return text(length * 1e3); };
  const double asPixels = metres ? *metres * 1e3 * pixel : 0;
  if (metres && *metres > 2 * side && asPixels <= side)
    warn(flag + ": " + inMillimeters(*metres) + " mm is far off a detector of " +
         inMillimeters(side) + " mm; " + inMillimeters(*metres) + " pixels would be " +
         inMillimeters(asPixels) + " mm");
  else if (metres && *metres > 0 && *metres < 1e-3 && *metres * 1e3 > 0.2 * side &&
           *metres * 1e3 < 0.8 * side)
    warn(flag + ": " + inMillimeters(*metres) + " mm is at the edge of a detector of " +
         inMillimeters(side) + " mm; " + inMillimeters(*metres) + " m would be " +
         inMillimeters(*metres * 1e3) + " mm");
}

void DefaultsChooser::chooseDistance() {
  Detector &d = experiment.detector;
  const auto closeDistance =
      said(&O::closeDistance) ? said(&O::closeDistance) : given.closeDistance;
  if (!closeDistance)
    d.distance = said(&O::distance).value_or(given.distance.value_or(0.1));

  ProgramVariant &variant = experiment.variant;
  const Vec3 &beam = experiment.beam.direction;
  const double before = beamNormalCosine(d, beam, Rule::C);
  const double after = beamNormalCosine(d, beam, Rule::Right);
  const bool swung = std::fabs(after - before) > 1e-12;
  if (swung)
    note(&Semantics::twothetaRatio);
  if (closeDistance) {
    d.closeDistance = *closeDistance;
    d.distance = d.closeDistance / before;
    variant.distance = DistanceInput::CloseDistance;
    // The kernel has the cosine before the swing only; the distance says the same.
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

std::string DefaultsChooser::panelName(std::size_t index) const {
  if (said(&O::panels).empty())
    return "the detector";
  const std::string &file = said(&O::panels)[index].file;
  return (file.empty() ? "" : file + ": ") + "panel " + std::to_string(index);
}

void DefaultsChooser::choosePanels() {
  if (said(&O::panels).empty())
    return;
  experiment.variant.panels = true;
  const Detector &d = experiment.detector;
  for (const PanelOptions &panel : said(&O::panels)) {
    const std::string name = panelName(d.panels.size());
    Panel p;
    p.offset = panel.offset;
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
  experiment.variant.faces = semantics.detectorFaces;
  const auto placed = placePanels(experiment.detector, experiment.beam.direction, report.detector);
  if (std::ranges::any_of(placed, [](const auto &panel) { return panel.closeDistance < 0; }))
    note(&Semantics::detectorFaces);
}

void DefaultsChooser::chooseCurvature() {
  if (!said(&O::curved))
    return;
  const bool ofC = semantics.curvedDetector == Rule::C;
  experiment.variant.curvature = ofC ? Curvature::C : Curvature::Right;
  note(&Semantics::curvedDetector);
  if (ofC)
    return;
  const auto placed = placePanels(experiment.detector, experiment.beam.direction, report.detector);
  for (std::size_t i = 0; i != placed.size(); ++i) {
    const double cosine = dot(experiment.beam.direction, placed[i].normal);
    if (std::fabs(cosine) < 1e-9)
      throw std::invalid_argument(panelName(i) + " is parallel to the beam, and -curved_det bends "
                                                 "it from where the beam meets it; turn it, or "
                                                 "leave -curved_det out");
    if (std::fabs(placed[i].closeDistance) < 1e-9)
      throw std::invalid_argument(panelName(i) + " is in a plane with the sample, and -curved_det "
                                                 "bends it about the sample; move it, or leave "
                                                 "-curved_det out");
  }
}

void DefaultsChooser::chooseDetector() {
  Detector &d = experiment.detector;
  ProgramVariant &variant = experiment.variant;
  choosePixels();
  d.rotation = {said(&O::rotX), said(&O::rotY), said(&O::rotZ)};
  d.twotheta = said(&O::twotheta).value_or(0);
  report.twotheta = d.twotheta;
  chooseBeamCenter();
  chooseDistance();
  choosePanels();
  chooseFaces();
  chooseSensor();
  chooseCurvature();
  variant.solidAngle = said(&O::pointPixel) ? SolidAngle::Point : SolidAngle::Pixel;
  variant.omega = said(&O::oversampleOmega) ? Evaluation::Each : Evaluation::Once;
}

} // namespace nanobragg
